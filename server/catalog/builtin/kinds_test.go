package builtin

import (
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/value"
)

// TestGoTypes makes objects of the Go types that client-go has for the kinds, and kube-aggregator for APIServices.
func TestGoTypes(t *testing.T) {
	known := runtime.NewScheme()
	if err := errors.Join(scheme.AddToScheme(known), apiregistrationv1.AddToScheme(known)); err != nil {
		t.Fatal(err)
	}
	for apiVersion, kinds := range goTypes {
		for kind, empty := range kinds {
			want, err := known.New(kschema.FromAPIVersionAndKind(apiVersion, kind))
			if err != nil {
				t.Error(err)
			} else if got := empty(); reflect.TypeOf(got) != reflect.TypeOf(want) || got == empty() {
				t.Errorf("%s %s is made as %T, want a new %T", apiVersion, kind, got, want)
			}
		}
	}
}

// TestManagers makes every field manager of every built-in kind: servers make each when a request needs it first.
func TestManagers(t *testing.T) {
	kinds, err := Kinds(Cluster{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, r := range slices.Concat(kinds, Reviews(time.Now), []*catalog.Resource{Bindings(time.Now)}) {
		for _, v := range r.Versions {
			managers := []catalog.Manager{v.Main, v.Status, v.Finalize}
			for _, action := range v.Actions {
				managers = append(managers, action.Main)
			}
			for _, part := range v.Parts {
				managers = append(managers, part)
			}
			for _, manager := range managers {
				if manager == nil {
					continue
				}
				n++
				if first, second := manager(), manager(); first == nil || first != second {
					t.Errorf("%v has a field manager that is made twice, or not at all", v.GVK())
				}
			}
		}
	}
	if n < 80 {
		t.Errorf("%d field managers", n)
	}
}

// TestColumns finds columns for every stored kind, and as many cells as columns. In kube-apiserver, an IPAddress has a cell without a
// column: its age.
func TestColumns(t *testing.T) {
	of, err := Kinds(Cluster{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range of {
		for _, v := range r.Versions {
			if v.Row == nil || len(v.Columns()) == 0 {
				t.Errorf("%v has no columns", v.GVK())
			} else if got := v.Row(value.Object(), time.Now()); len(got.Cells) != len(v.Columns()) && r.Plural != "ipaddresses" {
				t.Errorf("%v has %d columns and %d cells", v.GVK(), len(v.Columns()), len(got.Cells))
			}
		}
	}
	if columns, row := DefinitionTable(); len(row(value.Object(), time.Now()).Cells) != len(columns()) {
		t.Error("definitions have other columns than cells")
	}
}
