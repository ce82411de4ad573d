package schemafile

import (
	"bytes"
	"os"
	"testing"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/schema/openapi"
)

// TestConvertBack checks that types stay equal after they were written as a document and as OpenAPI.
func TestConvertBack(t *testing.T) {
	n := 0
	for gvk, typ := range builtin.Catalog().Kinds() {
		if n++; n%15 != 0 {
			continue
		}
		f := &File{Document: DocumentOf(typ), kinds: []openapi.Kind{{GVK: gvk, Type: typ.Name()}}}
		c := types.NewLibrary(&manifest.Loader{Log: notice.NewLog(os.Stderr, nil)})
		compile(c, "document", f)
		original := &File{Catalog: schema.NewCatalog(map[schema.GVK]*schema.Type{gvk: typ})}
		if changes, _ := Compare(original, f); len(changes) > 0 {
			t.Errorf("%v as a document: %v", gvk, changes)
		}
		var stderr bytes.Buffer
		w := OpenAPIWriter{Library: types.NewLibrary(&manifest.Loader{Log: notice.NewLog(&stderr, nil)})}
		d, err := openapi.V3(w.Convert(f).AppendJSON(nil))
		if err != nil {
			t.Fatalf("%v: %v", gvk, err)
		}
		converted := &File{Document: d.Document, kinds: d.Kinds}
		compile(c, "OpenAPI", converted)
		if changes, _ := Compare(original, converted); len(changes) > 0 || stderr.Len() > 0 {
			t.Errorf("%v as OpenAPI: %v, %s", gvk, changes, stderr.String())
		}
	}
	if n == 0 {
		t.Error("no kinds")
	}
}
