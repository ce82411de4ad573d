package builtin

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"sync"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

//go:embed schema.json.gz
var packed []byte

// Catalog returns the types of the built-in kinds. The first call of any function of this package unpacks and compiles
// them, which takes some milliseconds.
func Catalog() *schema.Catalog { return all().catalog }

// Empty returns an object of kind gvk in which nothing is set, as an API server sees what does not exist yet, and
// whether gvk is a built-in kind. API servers hold objects as Go structs, some of whose fields print although
// nobody set them: they are in the object, beside apiVersion and kind.
func Empty(gvk schema.GVK) (object value.Value, ok bool) {
	object, ok = all().empty[gvk]
	return object, ok
}

// kinds is what the embedded file holds.
type kinds struct {
	catalog *schema.Catalog
	empty   map[schema.GVK]value.Value
}

// all panics when the embedded file is damaged.
var all = sync.OnceValue(func() *kinds {
	k, err := load(packed)
	if err != nil {
		panic("builtin: " + err.Error())
	}
	return k
})

// load reads a compressed JSON object of two members: types, those of a schema document, and gvks, which says for each
// kind the name of its type and what its empty object prints.
func load(packed []byte) (*kinds, error) {
	text, err := unpack(packed)
	if err != nil {
		return nil, err
	}
	file, err := value.Parse(text)
	if err != nil {
		return nil, err
	}
	doc, err := schema.ParseDocument(value.Object(value.Member{Name: "types", Value: file.Get("types")}))
	if err != nil {
		return nil, err
	}
	compiled, err := schema.Compile(doc)
	if err != nil {
		return nil, err
	}
	return index(compiled, file.Get("gvks"))
}

func unpack(packed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// index finds the type and makes the empty object of each kind that list names.
func index(compiled map[string]*schema.Type, list value.Value) (*kinds, error) {
	types := make(map[schema.GVK]*schema.Type, list.Len())
	empty := make(map[schema.GVK]value.Value, list.Len())
	for kind := range list.Items() {
		gvk := schema.GVK{
			Group: kind.Get("group").Str(), Version: kind.Get("version").Str(), Kind: kind.Get("kind").Str(),
		}
		t, ok := compiled[kind.Get("type").Str()]
		if !ok {
			return nil, fmt.Errorf("%v has the type %v, which is not defined", gvk, kind.Get("type"))
		}
		types[gvk] = t
		empty[gvk] = emptyObject(gvk, kind.Get("empty"))
	}
	return &kinds{schema.NewCatalog(types), empty}, nil
}

// emptyObject returns prints, which may be absent, with apiVersion and kind.
func emptyObject(gvk schema.GVK, prints value.Value) value.Value {
	if prints.IsAbsent() {
		prints = value.Object()
	}
	return prints.With("apiVersion", value.String(gvk.APIVersion())).With("kind", value.String(gvk.Kind))
}
