package openapi_test

import (
	"testing"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/openapi"
)

func FuzzV2(f *testing.F)  { fuzz(f, "v2") }
func FuzzV3(f *testing.F)  { fuzz(f, "v3") }
func FuzzCRD(f *testing.F) { fuzz(f, "crd") }

// fuzz checks the laws of the conversion called name, from the inputs of the goldens on: it gives definitions or an error, the
// same again, with sorted types that the text form of schemas expresses and that compile to a catalog of every kind.
func fuzz(f *testing.F, name string) {
	for _, path := range goldens(f) {
		for _, input := range inputs(readArchive(f, path)) {
			if input.name == name {
				f.Add(input.text)
			}
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := input{name, text}.convert()
		if (d == nil) != (err != nil) {
			t.Fatalf("got definitions %v with error %v", d, err)
		}
		again, errAgain := input{name, text}.convert()
		if first, second := outcome(d, err), outcome(again, errAgain); first != second {
			t.Fatalf("got, one after the other,\n%s\n%s", first, second)
		}
		if err == nil {
			checkDefinitions(t, d)
		}
	})
}

func checkDefinitions(t *testing.T, d *openapi.Definitions) {
	t.Helper()
	types := d.Document.Types
	for i := 1; i < len(types); i++ {
		if types[i-1].Name > types[i].Name {
			t.Errorf("type %q comes before %q", types[i-1].Name, types[i].Name)
		}
	}
	parsed, err := schema.ParseDocument(d.Document.Value())
	if err != nil {
		t.Fatalf("the text form is none: %v", err)
	}
	if !parsed.Value().Equal(d.Document.Value()) {
		t.Error("the text form is read back differently")
	}
	catalog, _ := d.Catalog()
	s, _ := schema.Compile(d.Document)
	for _, kind := range d.Kinds {
		_, defined := s[kind.Type]
		if typ, ok := catalog.Lookup(kind.GVK); ok != defined || ok && typ.Name() != kind.Type {
			t.Errorf("%v is not of the type %q", kind.GVK, kind.Type)
		}
	}
}
