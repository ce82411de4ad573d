package keywords

import (
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"

	"github.com/deed-project/deed/internal/testing/gen"
	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/server/structural/schematest"
	"github.com/deed-project/deed/value"
)

const resourceSchema = `{"type":"object","properties":{
	"one":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true,"properties":{
		"inner":{"type":"object","x-kubernetes-embedded-resource":true}}},
	"list":{"type":"array","items":{"type":"object","x-kubernetes-embedded-resource":true}},
	"map":{"type":"object","additionalProperties":{"type":"object","x-kubernetes-embedded-resource":true}}}}`

// TestResources compares the errors of random embedded resources with those of the library.
func TestResources(t *testing.T) {
	schema := parse(t, resourceSchema)
	s, library := Compile(schema), refer(t, schema)
	seed, found := seeds.First(t), 0
	for i := range 2000 {
		c := gen.Seeded(seed<<32 + uint64(i))
		object := value.Object()
		for _, name := range []string{"one", "list", "map", "other"} {
			switch v := embedding(c); {
			case c.Chance(30):
			case name == "list":
				object = object.With(name, value.List(v, embedding(c)))
			case name == "map":
				object = object.With(name, value.Object(value.Member{Name: "k.io/a", Value: v}))
			default:
				object = object.With(name, v.With("inner", embedding(c)))
			}
		}
		want := schematest.Sorted(objectmeta.Validate(t.Context(), nil, object.ToAny(), library.structural, false), nil)
		if got := schematest.Sorted(s.Resources(t.Context(), object), nil); got != want {
			t.Fatalf("%v has the errors\n%s\nlibrary\n%s", object, got, want)
		}
		if want != "" {
			found++
		}
	}
	if found < 500 || found > 1900 {
		t.Errorf("%d of 2000 objects have errors: the cases are one-sided", found)
	}
}

// embedding returns an object that may be a resource.
func embedding(c *gen.Choices) value.Value {
	out := value.Object()
	add := func(name, usual string, wrong ...value.Value) {
		switch {
		case c.Chance(95):
			out = out.With(name, value.String(usual))
		case c.Chance(80):
			out = out.With(name, gen.Pick(c, wrong...))
		}
	}
	add("apiVersion", "apps/v1", value.String("a/b/c"), value.String(""), value.Int(1))
	add("kind", "Deployment", value.String("A b"), value.String(""), value.Int(1))
	if c.Chance(30) {
		metadata := value.Object()
		for _, name := range []string{"name", "namespace", "generateName", "labels", "annotations", "finalizers", "ownerReferences"} {
			if c.Chance(80) {
				continue
			}
			text := value.String(gen.Pick(c, "web", "a/b", "A b", "..", "1", ""))
			switch name {
			case "labels", "annotations":
				text = value.Object(value.Member{Name: gen.Pick(c, "a", "a b", "k.io/a"), Value: text})
			case "finalizers":
				text = value.List(text)
			case "ownerReferences":
				text = value.List(value.Object(value.Member{Name: "name", Value: text}, value.Member{Name: "kind", Value: text}))
			}
			metadata = metadata.With(name, text)
		}
		out = out.With("metadata", gen.Pick(c, metadata, metadata, metadata, metadata, metadata, value.String("x"), value.Null(), value.List()))
	}
	return out
}
