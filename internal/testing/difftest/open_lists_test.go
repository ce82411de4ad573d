package difftest

import (
	"testing"

	"github.com/deed-project/deed/internal/testing/gen"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
)

// TestOpenLists checks that a list of undefined relationship can be stored if it is empty or within an atomic part.
func TestOpenLists(t *testing.T) {
	text := schema.TypeRef{Inlined: schema.Atom{Scalar: schema.String}}
	open := schema.TypeRef{Inlined: schema.Atom{List: &schema.ListDef{ElementType: text}}}
	inside := &schema.MapDef{Relationship: schema.Atomic, Fields: []schema.FieldDef{{Name: "l", Type: open}}}
	root := schema.Atom{Map: &schema.MapDef{Fields: []schema.FieldDef{
		{Name: "l", Type: open}, {Name: "atomic", Type: schema.TypeRef{Inlined: schema.Atom{Map: inside}}},
	}}}
	w, err := newWorld(&gen.Schema{
		Document: &schema.Document{Types: append(schemas.DeducedTypes(), schema.TypeDef{Name: "root", Atom: root})},
		Versions: []gen.Version{{Name: "v1", Root: "root"}}, Open: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	for object, accepted := range map[string]bool{
		`{"l":["x"]}`: false, `{"l":[]}`: true, `{"atomic":{"l":["x"]}}`: true, `{"atomic":{"l":["x"]},"l":["y"]}`: false, `{"l":[1]}`: false,
	} {
		for _, operation := range []merge.Operation{merge.Apply, merge.Update} {
			write := gen.Write{
				Manager: merge.Manager{Name: "m", Operation: operation}, Operation: operation, Version: "v1", Object: parsed(object),
			}
			if operation == merge.Update {
				write.Manager.APIVersion = "v1"
			}
			deed, smd := w.start(nil)
			got, want := deed.step(write), smd.step(write)
			if got.String() != want.String() || (got.err == "") != accepted {
				t.Errorf("%s of %s\ndeed %v %s\nwant %v %s", operation, object, got, got.message, want, want.message)
			}
		}
	}
}
