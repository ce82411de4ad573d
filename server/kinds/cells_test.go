package kinds_test

import (
	"net/http"
	"testing"

	"github.com/deed-project/deed/internal/testing/recording"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/server/kinds"
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
		kind, known := builtin.Lookup(gvk)
		if !known {
			t.Errorf("%s is not known", r.Resource)
			continue
		}
		got, conditions := kinds.Of(kind).Row(r.Object, now)
		if cells := value.List(got...); !cells.Equal(r.Cells) {
			t.Errorf("%s %s\n got %v\nwant %v\n%v", r.Resource, r.Object.Get("metadata", "name").Str(), cells, r.Cells, r.Object)
		}
		if list := value.List(conditions...); r.Conditions.Len() != len(conditions) || len(conditions) > 0 && !list.Equal(r.Conditions) {
			t.Errorf("%s: conditions %v, want %v", r.Resource, list, r.Conditions)
		}
	}
	if len(rows) < 150 || len(seen) < 50 {
		t.Errorf("only %d rows of %d resources", len(rows), len(seen))
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
	kind, _ := builtin.Lookup(schema.GVK{Group: "storage.k8s.io", Version: "v1", Kind: "StorageClass"})
	got := kinds.Of(kind).Default([]value.Value{
		class("old", "2020-01-01T00:00:00Z", marked), class("b", "2020-01-02T00:00:00Z", marked),
		class("a", "2020-01-02T00:00:00Z", "storageclass.beta.kubernetes.io/is-default-class"), class("c", "2021-01-01T00:00:00Z", "x"),
	})
	if got != "a" {
		t.Errorf("the default is %q", got)
	}
}
