package openapi

import (
	"encoding/json"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/openapi"
)

// panics reports whether f panics.
func panics(f func()) (out bool) {
	defer func() { out = recover() != nil }()
	f()
	return false
}

// TestKindTwice has two types for one kind. The reference takes one at random, and deed the last by name.
func TestKindTwice(t *testing.T) {
	schemas := `{"A":{"type":"object","x-kubernetes-group-version-kind":[{"group":"g","version":"v1","kind":"K"}]},
		"B":{"type":"object","x-kubernetes-group-version-kind":[{"group":"g","version":"v1","kind":"K"}]}}`
	definitions, err := openapi.V3([]byte(`{"openapi":"3.0.0","components":{"schemas":` + schemas + `}}`))
	if err != nil {
		t.Fatal(err)
	}
	if want := (openapi.Kind{GVK: schema.GVK{Group: "g", Version: "v1", Kind: "K"}, Type: "B"}); !slices.Equal(definitions.Kinds, []openapi.Kind{want}) {
		t.Errorf("deed takes %v", definitions.Kinds)
	}
	models := map[string]*spec.Schema{}
	if err := json.Unmarshal([]byte(schemas), &models); err != nil {
		t.Fatal(err)
	}
	taken := map[string]bool{}
	for range 200 {
		types, err := managedfields.NewTypeConverter(models, false)
		if err != nil {
			t.Fatal(err)
		}
		v, err := types.ObjectToTyped(&unstructured.Unstructured{Object: map[string]any{"apiVersion": "g/v1", "kind": "K"}})
		if err != nil {
			t.Fatal(err)
		}
		taken[*v.TypeRef().NamedType] = true
	}
	if !taken["A"] || !taken["B"] {
		t.Errorf("the reference always takes %v", taken)
	}
}

// TestNullSchema converts a schema that is null.
func TestNullSchema(t *testing.T) {
	document := []byte(`{"openapi":"3.0.0","components":{"schemas":{"C":null}}}`)
	if _, err := openapi.V3(document); err == nil {
		t.Error("deed reports nothing")
	}
	if !panics(func() { referenceV3(t, document) }) {
		t.Error("the reference no longer panics")
	}
}

// TestItemsThatAreNoSchemas converts a list of items that are not schemas, in an OpenAPI v2 document.
func TestItemsThatAreNoSchemas(t *testing.T) {
	document := []byte(`{"swagger":"2.0","info":{"title":"","version":""},"paths":{},"definitions":
		{"T":{"properties":{"a":{"items":["b"],"unknown":""}}}}}`)
	if _, err := openapi.V2(document); err == nil {
		t.Error("deed reports nothing")
	}
	if !panics(func() { referenceV2(t, document) }) {
		t.Error("the reference no longer panics")
	}
}
