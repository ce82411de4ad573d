package tables_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/deed-project/deed/internal/testing/recording"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/server/catalog/tables"
	"github.com/deed-project/deed/value"
)

// recorded is what kube-apiserver showed of an object, see oracle/tables.
type recorded struct {
	Resource, Date            string
	Object, Cells, Conditions value.Value
}

// TestRows shows the objects of testdata/rows.json.gz as kube-apiserver showed them.
func TestRows(t *testing.T) {
	all, err := recording.Load[[]recorded]("testdata/rows.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	rows := all[0]
	seen := map[string]int{}
	for _, r := range rows {
		now, err := http.ParseTime(r.Date)
		if err != nil {
			t.Fatal(err)
		}
		seen[r.Resource]++
		gvk := schema.ParseGVK(r.Object.Get("apiVersion").Str(), r.Object.Get("kind").Str())
		resource := r.Resource[strings.LastIndex(r.Resource, "/")+1:]
		columns, row := tables.Of(resource, gvk)
		if row == nil {
			t.Errorf("%s is not known", r.Resource)
			continue
		}
		got := row(r.Object, now)
		if cells := value.List(got.Cells...); !cells.Equal(r.Cells) || len(columns()) == 0 {
			t.Errorf("%s %s\n got %v\nwant %v\n%v", r.Resource, r.Object.Get("metadata", "name").Str(), cells, r.Cells, r.Object)
		}
		if conditions := value.List(got.Conditions...); r.Conditions.Len() != len(got.Conditions) ||
			len(got.Conditions) > 0 && !conditions.Equal(r.Conditions) {
			t.Errorf("%s: conditions %v, want %v", r.Resource, conditions, r.Conditions)
		}
	}
	if len(rows) < 150 || len(seen) < 50 {
		t.Errorf("only %d rows of %d resources", len(rows), len(seen))
	}
}

// TestKnown finds columns for every kind that is stored and served by default, and as many cells as columns, except where
// kube-apiserver itself has a cell without a column: the age of an IPAddress.
func TestKnown(t *testing.T) {
	for kind := range builtin.Kinds() {
		lists := strings.Contains(strings.Join(kind.Verbs, " "), "list")
		if kind.Served != builtin.ServedByDefault || !lists || kind.GVK.Kind == "APIService" || kind.GVK.Kind == "ComponentStatus" {
			continue
		}
		columns, row := tables.Of(kind.Resource, kind.GVK)
		if row == nil || len(columns()) == 0 {
			t.Errorf("%s %s has no columns", kind.GVK.APIVersion(), kind.Resource)
		} else if got := row(value.Object(), time.Now()); len(got.Cells) != len(columns()) && kind.Resource != "ipaddresses" {
			t.Errorf("%s %s has %d columns and %d cells", kind.GVK.APIVersion(), kind.Resource, len(columns()), len(got.Cells))
		}
	}
}

// TestDefaultClass finds the default among StorageClasses.
func TestDefaultClass(t *testing.T) {
	class := func(name, created, annotation string) value.Value {
		v, err := value.FromAny(map[string]any{"metadata": map[string]any{
			"name": name, "creationTimestamp": created, "annotations": map[string]any{annotation: "true"},
		}})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	const marked = "storageclass.kubernetes.io/is-default-class"
	got := tables.DefaultClass([]value.Value{
		class("old", "2020-01-01T00:00:00Z", marked), class("b", "2020-01-02T00:00:00Z", marked),
		class("a", "2020-01-02T00:00:00Z", "storageclass.beta.kubernetes.io/is-default-class"), class("c", "2021-01-01T00:00:00Z", "x"),
	})
	if got != "a" {
		t.Errorf("the default is %q", got)
	}
}
