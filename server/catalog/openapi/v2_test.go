package openapi_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/version"

	"github.com/deed-project/deed/internal/testing/recording"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/catalog/builtin"
	"github.com/deed-project/deed/server/catalog/crd"
	"github.com/deed-project/deed/server/catalog/openapi"
	"github.com/deed-project/deed/value"
)

// TestV2 compares the document of built-in kinds with that of a kube-apiserver, of which testdata has the definitions without
// descriptions, and what operations are called.
func TestV2(t *testing.T) {
	type document struct {
		Definitions map[string]value.Value
		Paths       map[string]map[string]string
	}
	recorded, err := recording.Load[document]("testdata/openapi-v2.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	want := recorded[0]
	kinds, err := builtin.Kinds(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	namespaces, err := builtin.Namespaces(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	got := openapi.V2(catalog.New(append(kinds, namespaces)...), version.Info{Major: "1", Minor: "37"})
	compared := 0
	for name, definition := range got.Get("definitions").Members() {
		if compareDefinition(t, name, definition, want.Definitions[name]) {
			compared++
		}
	}
	if compared < 500 {
		t.Errorf("only %d definitions are compared", compared)
	}
	operations := 0
	for path, item := range got.Get("paths").Members() {
		for method, operation := range item.Members() {
			if method == "parameters" {
				continue
			}
			operations++
			if id := operation.Get("operationId").Str(); id != want.Paths[path][method] {
				t.Errorf("%s %s is %s, want %s", method, path, id, want.Paths[path][method])
			}
		}
	}
	if operations < 500 {
		t.Errorf("only %d operations are compared", operations)
	}
}

// TestV2Custom compares what the document says of a custom resource, whose schema says more than Swagger 2 can, with what a
// kube-apiserver says of it.
func TestV2Custom(t *testing.T) {
	text, err := os.ReadFile("testdata/rat.json")
	if err != nil {
		t.Fatal(err)
	}
	var c struct{ Definition, Want value.Value }
	if err := json.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	accepted := c.Definition.With("status", crd.Accept(c.Definition, crd.Names{}, time.Now()))
	resource, err := crd.Compile(accepted, time.Now, nil)
	if err != nil {
		t.Fatal(err)
	}
	document := openapi.V2(catalog.New(resource), version.Info{Major: "1", Minor: "37"})
	if got := bare(document.Get("definitions", "org.example.r.v1.Rat")); !got.Equal(c.Want) {
		t.Errorf(" got %v\nwant %v", got, c.Want)
	}
}

// bare returns a schema without descriptions.
func bare(v value.Value) value.Value {
	switch v.Kind() {
	case value.KindList:
		var out []value.Value
		for item := range v.Items() {
			out = append(out, bare(item))
		}
		return value.List(out...)
	case value.KindObject:
		out := value.Object()
		for name, member := range v.Members() {
			if name != "description" || member.Kind() != value.KindString {
				out = out.With(name, bare(member))
			}
		}
		return out
	}
	return v
}

// compareDefinition compares what two definitions say of each property, and reports whether there is one to compare with.
func compareDefinition(t *testing.T, name string, got, want value.Value) bool {
	t.Helper()
	if want.IsAbsent() {
		t.Errorf("there is no definition %s", name)
		return false
	}
	for _, of := range []string{"required", "x-kubernetes-map-type", "x-kubernetes-group-version-kind", "type"} {
		if g, w := sorted(got.Get(of)), sorted(want.Get(of)); !g.Equal(w) {
			t.Errorf("%s: %s is %v, want %v", name, of, g, w)
		}
	}
	for property, w := range want.Get("properties").Members() {
		g := plain(got.Get("properties", property))
		if w = plain(w); !g.Equal(w) {
			t.Errorf("%s.%s\n got %v\nwant %v", name, property, g, w)
		}
	}
	for property := range got.Get("properties").Members() {
		if want.Get("properties", property).IsAbsent() {
			t.Errorf("%s.%s is not there", name, property)
		}
	}
	return true
}

// plain returns a property without its description, and without what says the same as nothing: that a list is merged as a whole.
func plain(v value.Value) value.Value {
	if v.Kind() != value.KindObject {
		return v
	}
	v = v.With("description", value.Value{})
	if v.Get("x-kubernetes-list-type").Str() == "atomic" {
		v = v.With("x-kubernetes-list-type", value.Value{})
	}
	for _, name := range []string{"items", "additionalProperties"} {
		if child := v.Get(name); !child.IsAbsent() {
			v = v.With(name, plain(child))
		}
	}
	return v
}

// sorted returns a list of texts in order.
func sorted(v value.Value) value.Value {
	if v.Kind() != value.KindList {
		return v
	}
	items := slices.SortedFunc(v.Items(), func(a, b value.Value) int { return strings.Compare(a.String(), b.String()) })
	return value.List(items...)
}
