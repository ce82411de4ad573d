package cli

import (
	"bytes"
	"os"
	"testing"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/schema/openapi"
)

// TestConvertBack wants that types are the same after they were written as a document, and as OpenAPI.
func TestConvertBack(t *testing.T) {
	n := 0
	for gvk, typ := range builtin.Catalog().Kinds() {
		if n++; n%15 != 0 {
			continue
		}
		f := &schemaFile{document: documentOf(typ), kinds: []openapi.Kind{{GVK: gvk, Type: typ.Name()}}}
		c := newLibrary(&loader{log: newLog(os.Stderr, nil)})
		compile(c, "document", f)
		original := &schemaFile{catalog: schema.NewCatalog(map[schema.GVK]*schema.Type{gvk: typ})}
		if changes := compareSchemas(original, f); len(changes) > 0 {
			t.Errorf("%v as a document: %v", gvk, changes)
		}
		var stderr bytes.Buffer
		w := openAPIWriter{library: newLibrary(&loader{log: newLog(&stderr, nil)})}
		d, err := openapi.V3(w.convert(f).AppendJSON(nil))
		if err != nil {
			t.Fatalf("%v: %v", gvk, err)
		}
		converted := &schemaFile{document: d.Document, kinds: d.Kinds}
		compile(c, "OpenAPI", converted)
		if changes := compareSchemas(original, converted); len(changes) > 0 || stderr.Len() > 0 {
			t.Errorf("%v as OpenAPI: %v, %s", gvk, changes, stderr.String())
		}
	}
	if n == 0 {
		t.Error("no kinds")
	}
}
