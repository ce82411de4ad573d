package managedfields_test

import (
	"testing"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
)

// TestNumbersInConflicts shows that the large key of an item is printed with an exponent when its owner was read from managed
// fields, and in decimal when the owner was found in an object without any.
func TestNumbersInConflicts(t *testing.T) {
	key := schema.TypeRef{Inlined: schema.Atom{Scalar: schema.Numeric}}
	item := schema.TypeRef{Inlined: schema.Atom{Map: &schema.MapDef{Fields: []schema.FieldDef{{Name: "k", Type: key}, {Name: "v", Type: key}}}}}
	deduced := schema.TypeRef{NamedType: schema.DeducedName}
	s, err := schema.Compile(&schema.Document{Types: append(schemas.DeducedTypes(), schema.TypeDef{Name: "t", Atom: schema.Atom{
		Map: &schema.MapDef{
			Fields: []schema.FieldDef{{Name: "l", Type: schema.TypeRef{Inlined: schema.Atom{List: &schema.ListDef{
				ElementType: item, Relationship: schema.Associative, Keys: []string{"k"},
			}}}}},
			ElementType: deduced,
		},
	}})})
	if err != nil {
		t.Fatal(err)
	}
	typ := s["t"]
	m, err := managedfields.New(managedfields.Config{
		GVK: schema.GVK{Version: "v1", Kind: "T"}, Types: map[string]*schema.Type{"v1": typ},
	})
	if err != nil {
		t.Fatal(err)
	}
	object := func(metadata, v string) managedfields.Object {
		o, err := managedfields.ParseObject([]byte(`{"apiVersion":"v1","kind":"T","metadata":` + metadata + `,"l":[{"k":1000000,"v":` + v + `}]}`))
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	for metadata, want := range map[string]string{
		`{}`: `Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .l[k=1000000].v`,
		`{"managedFields":[{"manager":"a","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1",
			"fieldsV1":{"f:l":{"k:{\"k\":1000000}":{"f:v":{}}}}}]}`: `Apply failed with 1 conflict: conflict with "a" using v1: .l[k=1e+06].v`,
	} {
		_, err := m.Apply(object(metadata, "1"), object(`{}`, "2"), "b", false)
		if err == nil || err.Error() != want {
			t.Errorf("got %v\nwant %s", err, want)
		}
		if status := managedfields.ToStatus(err); status.Message != want {
			t.Errorf("got the message %s\nwant %s", status.Message, want)
		}
	}
}
