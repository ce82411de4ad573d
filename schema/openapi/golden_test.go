package openapi_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/openapi"
	"github.com/deed-project/deed/value"
)

var update = flag.Bool("update", false, "write what the conversions give to testdata; read the difference before you commit it")

// Each file of testdata is one rule: a comment, an input, and what the conversions make of it. Inputs are
//
//	schemas      definitions, for OpenAPI v3 and v2; REF/ stands for what references begin with
//	schemas-v3   definitions for OpenAPI v3 alone
//	schemas-v2   definitions for OpenAPI v2 alone
//	crd          a CustomResourceDefinition
//
// and outcomes, in the sections v3, v2 and crd, are the kinds, the warnings and the types, or else the errors, one a line. The
// types that every document has, those for values without a schema and those of object metadata, are left out. ANY is short for
// what v3 makes of a schema that says nothing, DEDUCED for what v2 makes of it.
func TestGolden(t *testing.T) {
	for _, path := range goldens(t) {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive := readArchive(t, path)
			want := string(txtar.Format(archive))
			for _, input := range inputs(archive) {
				d, err := input.convert()
				setSection(archive, input.name, outcome(d, err))
			}
			got := txtar.Format(archive)
			if *update {
				if err := os.WriteFile(path, got, 0o666); err != nil {
					t.Fatal(err)
				}
			} else if diff := cmp.Diff(want, string(got)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func goldens(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no goldens: %v", err)
	}
	return paths
}

func readArchive(t testing.TB, path string) *txtar.Archive {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return archive
}

// input is a text with the conversion that it is for.
type input struct {
	name string // v2, v3 or crd
	text []byte
}

func (i input) convert() (*openapi.Definitions, error) {
	switch i.name {
	case "v2":
		return openapi.V2(i.text)
	case "v3":
		return openapi.V3(i.text)
	}
	crd, err := value.Parse(i.text)
	if err != nil {
		return nil, err
	}
	return openapi.CRD(crd)
}

// inputs returns the inputs of a golden.
func inputs(a *txtar.Archive) []input {
	v3 := func(text []byte) input {
		schemas := strings.ReplaceAll(string(text), "REF/", "#/components/schemas/")
		return input{"v3", []byte(`{"openapi":"3.0.0","components":{"schemas":` + schemas + `}}`)}
	}
	v2 := func(text []byte) input {
		definitions := strings.ReplaceAll(string(text), "REF/", "#/definitions/")
		return input{"v2", []byte(`{"swagger":"2.0","info":{"title":"","version":""},"paths":{},"definitions":` + definitions + `}`)}
	}
	var out []input
	for _, f := range a.Files {
		switch f.Name {
		case "schemas":
			out = append(out, v3(f.Data), v2(f.Data))
		case "schemas-v3":
			out = append(out, v3(f.Data))
		case "schemas-v2":
			out = append(out, v2(f.Data))
		case "crd":
			out = append(out, input{"crd", f.Data})
		}
	}
	return out
}

func setSection(a *txtar.Archive, name, text string) {
	name = "want " + name
	for i := range a.Files {
		if a.Files[i].Name == name {
			a.Files[i].Data = []byte(text)
			return
		}
	}
	a.Files = append(a.Files, txtar.File{Name: name, Data: []byte(text)})
}

// outcome prints what a conversion gave.
func outcome(d *openapi.Definitions, err error) string {
	var out strings.Builder
	if err != nil {
		for _, line := range strings.Split(err.Error(), "\n") {
			fmt.Fprintf(&out, "error: %s\n", line)
		}
		return out.String()
	}
	for _, kind := range d.Kinds {
		fmt.Fprintf(&out, "kind %v is %s\n", kind.GVK, kind.Type)
	}
	for _, warning := range d.Warnings {
		fmt.Fprintf(&out, "warning: %v\n", warning)
	}
	for _, def := range d.Document.Types {
		if !strings.HasPrefix(def.Name, "__untyped_") && !strings.HasPrefix(def.Name, "io.k8s.apimachinery.pkg.apis.meta.v1.") {
			printType(&out, def)
		}
	}
	list := `{"list":{"elementRelationship":"atomic","elementType":{"namedType":"__untyped_atomic_"}},`
	return strings.NewReplacer(
		list+`"map":{"elementType":{"namedType":"__untyped_deduced_"}},"scalar":"untyped"}`, "ANY",
		list+`"map":{"elementRelationship":"separable","elementType":{"namedType":"__untyped_deduced_"}},"scalar":"untyped"}`, "DEDUCED",
	).Replace(out.String())
}

// printType prints a definition in the text form, one field a line.
func printType(out *strings.Builder, def schema.TypeDef) {
	var fields []schema.FieldDef
	if def.Map != nil {
		m := *def.Map
		fields, m.Fields, def.Map = m.Fields, nil, &m
	}
	fmt.Fprintf(out, "type %s %v\n", def.Name, text(def.Atom))
	for _, f := range fields {
		fmt.Fprintf(out, "  %s: %v", f.Name, textOfRef(f.Type))
		if !f.Default.IsAbsent() {
			fmt.Fprintf(out, " default %v", f.Default)
		}
		fmt.Fprintln(out)
	}
}

func text(a schema.Atom) value.Value {
	d := schema.Document{Types: []schema.TypeDef{{Atom: a}}}
	return d.Value().Get("types").Item(0).With("name", value.Value{})
}

func textOfRef(r schema.TypeRef) value.Value {
	return text(schema.Atom{Map: &schema.MapDef{ElementType: r}}).Get("map", "elementType")
}
