package typed_test

import (
	"testing"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// TestBeforeUnidentifiedItem shows that an item without identity hides what is wrong with the items behind it, and nothing of
// what is wrong with those before it. A duplicate is reported where it stands: behind what is wrong inside the first of the two.
func TestBeforeUnidentifiedItem(t *testing.T) {
	number := schema.TypeRef{Inlined: schema.Atom{Scalar: schema.Numeric}}
	item := schema.Atom{Map: &schema.MapDef{Fields: []schema.FieldDef{{Name: "k", Type: number}, {Name: "v", Type: number}}}}
	s, err := schema.Compile(&schema.Document{Types: []schema.TypeDef{{Name: "list", Atom: schema.Atom{List: &schema.ListDef{
		ElementType: schema.TypeRef{Inlined: item}, Relationship: schema.Associative, Keys: []string{"k"},
	}}}}})
	if err != nil {
		t.Fatal(err)
	}
	list := s["list"]
	v, err := value.Parse([]byte(`[{"k":1000000,"v":true},{"k":1000000,"v":"x"},{"v":2},{"k":1,"v":"y"}]`))
	if err != nil {
		t.Fatal(err)
	}
	_, err = typed.New(v, list)
	const want = "errors:\n  [k=1000000].v: expected numeric (int or float), got bool\n" +
		"  duplicate entries for key [k=1000000]\n  [k=1000000].v: expected numeric (int or float), got string\n" +
		"  element 2: associative list with keys has an element that omits all key fields [\"k\"] " +
		"(and doesn't have default values for any key fields)"
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}
