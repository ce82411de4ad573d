package schema_test

import (
	"slices"
	"testing"

	"github.com/deed-project/deed/schema"
)

func TestGVK(t *testing.T) {
	pod, deploy := schema.GVK{Version: "v1", Kind: "Pod"}, schema.GVK{Group: "apps", Version: "v1", Kind: "Deployment"}
	if got := pod.APIVersion() + " " + deploy.APIVersion(); got != "v1 apps/v1" {
		t.Errorf("got apiVersions %s", got)
	}
	if got := pod.String() + "; " + deploy.String(); got != "/v1, Kind=Pod; apps/v1, Kind=Deployment" {
		t.Errorf("got %s", got)
	}
	if schemas.CompareGVKs(pod, deploy) >= 0 || schemas.CompareGVKs(deploy, pod) <= 0 || schemas.CompareGVKs(pod, pod) != 0 {
		t.Error("the core group does not sort first")
	}
	if v2 := (schema.GVK{Group: "apps", Version: "v2", Kind: "A"}); schemas.CompareGVKs(deploy, v2) >= 0 {
		t.Error("the version does not come before the kind")
	}
}

func TestParseGVK(t *testing.T) {
	for _, want := range []schema.GVK{
		{Version: "v1", Kind: "Pod"}, {Group: "apps", Version: "v1", Kind: "Deployment"}, {Kind: "NoVersion"}, {Group: "g", Kind: "NoVersion"},
	} {
		if got := schema.ParseGVK(want.APIVersion(), want.Kind); got != want {
			t.Errorf("%s: got %+v, want %+v", want.APIVersion(), got, want)
		}
	}
}

func TestCatalog(t *testing.T) {
	a, b, c := schema.GVK{Version: "v1", Kind: "A"}, schema.GVK{Version: "v1", Kind: "B"}, schema.GVK{Version: "v1", Kind: "C"}
	s, err := schema.Compile(document(t, `{"name":"x","scalar":"string"},{"name":"y","scalar":"string"}`))
	if err != nil {
		t.Fatal(err)
	}
	x := s["x"]
	y := s["y"]
	source := map[schema.GVK]*schema.Type{b: x, a: x}
	first := schema.NewCatalog(source)
	delete(source, a) // the catalog does not notice
	all := first.Merge(nil, schema.NewCatalog(map[schema.GVK]*schema.Type{c: y, a: y}))

	for gvk, want := range map[schema.GVK]*schema.Type{a: y, b: x, c: y} {
		if got, ok := all.Lookup(gvk); !ok || got != want {
			t.Errorf("%v: got %v, want %v", gvk, got, want)
		}
	}
	if got, ok := first.Lookup(a); !ok || got != x {
		t.Error("merging changed the catalog that it was called on")
	}
	if _, ok := first.Lookup(c); ok {
		t.Error("found a kind that the catalog does not have")
	}
	var kinds []schema.GVK
	for gvk, typ := range all.Kinds() {
		if want, _ := all.Lookup(gvk); typ != want {
			t.Errorf("%v comes with the type of another kind", gvk)
		}
		if kinds = append(kinds, gvk); gvk == b {
			break
		}
	}
	if want := []schema.GVK{a, b}; !slices.Equal(kinds, want) {
		t.Errorf("got kinds %v, want %v, then the break", kinds, want)
	}
}

func TestNilCatalog(t *testing.T) {
	var none *schema.Catalog
	if _, ok := none.Lookup(schema.GVK{}); ok {
		t.Error("found a kind in no catalog")
	}
	for gvk := range none.Kinds() {
		t.Errorf("no catalog has the kind %v", gvk)
	}
	if merged := none.Merge(); merged == nil {
		t.Error("merging nothing gives no catalog")
	}
}
