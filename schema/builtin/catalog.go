package builtin

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

//go:embed schema.json
var written string

// Catalog returns the types of the built-in kinds. The first call compiles all of them, which takes some milliseconds: see [Type]. It
// panics if the embedded file is damaged.
var Catalog = sync.OnceValue(func() *schema.Catalog {
	c, err := all().catalog()
	if err != nil {
		panic("builtin: " + err.Error())
	}
	return c
})

// Type returns the type of a built-in kind, and whether gvk is one. It is the same type as in [Catalog]. The first call for a kind
// compiles its type, with the types that it refers to.
func Type(gvk schema.GVK) (*schema.Type, bool) { return all().typeOf(gvk) }

// typeOf returns the type of a kind, and whether the kind has one.
func (k *kinds) typeOf(gvk schema.GVK) (*schema.Type, bool) {
	e, ok := k.entries[gvk]
	if !ok {
		return nil, false
	}
	types, err := k.compile(e.typeName)
	if err != nil {
		panic("builtin: " + err.Error())
	}
	return types[e.typeName], true
}

// Empty returns an object of kind gvk without any set field, and whether gvk is a built-in kind. An API server starts from such an
// object if none exists yet. It holds objects as Go structs, and prints some fields even if they are not set. The object has these
// fields, beside apiVersion and kind.
func Empty(gvk schema.GVK) (object value.Value, ok bool) { return all().empty(gvk) }

// empty is Empty for the kinds of a release.
func (k *kinds) empty(gvk schema.GVK) (object value.Value, ok bool) {
	e, ok := k.entries[gvk]
	if !ok {
		return value.Value{}, false
	}
	return emptyObject(gvk, e.prints), true
}

// kinds is the content of the embedded file. Types are parsed and compiled on demand: a server with only namespaces and custom
// resources needs few of them.
type kinds struct {
	entries map[schema.GVK]entry

	written  map[string]string                       // the definitions of all types, as JSON, by name
	compiled atomic.Pointer[map[string]*schema.Type] // with everything that they refer to; the map is not modified
	mu       sync.Mutex                              // held while compiling
}

// entry is the part of the file for one kind.
type entry struct {
	typeName string
	prints   value.Value // the fields of an empty object beside apiVersion and kind; absent for none
}

// all returns the content of the embedded file, with the types of Scales. It panics if the file is damaged.
var all = sync.OnceValue(func() *kinds {
	k, err := load(written)
	if err != nil {
		panic("builtin: " + err.Error())
	}
	k.addTypes(scaleTypes)
	return k
})

// load reads a JSON object with two members. types has the types of a schema document. gvks has, for each kind, the name of its type
// and the fields of its empty object. Each type is one line that begins with its name. load can therefore leave the parsing of a type
// to its first use.
func load(text string) (*kinds, error) {
	types, gvks, _ := strings.Cut(text, "\n],\"gvks\":")
	list, err := value.Parse([]byte(strings.TrimSuffix(gvks, "}\n")))
	if err != nil {
		return nil, err
	}
	k := &kinds{entries: map[schema.GVK]entry{}, written: map[string]string{}}
	k.addTypes(types)
	for kind := range list.Items() {
		k.addEntry(kind)
	}
	return k, nil
}

// addTypes adds the types of a text. Other lines of it are skipped.
func (k *kinds) addTypes(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		if named, ok := strings.CutPrefix(line, `{"name":"`); ok {
			name, _, _ := strings.Cut(named, `"`)
			k.written[name] = strings.TrimSuffix(line, ",")
		}
	}
}

// addEntry adds the entry of a kind.
func (k *kinds) addEntry(kind value.Value) {
	gvk := schema.GVK{
		Group: kind.Get("group").Str(), Version: kind.Get("version").Str(), Kind: kind.Get("kind").Str(),
	}
	k.entries[gvk] = entry{kind.Get("type").Str(), kind.Get("empty")}
}

// catalog returns the types of all kinds. The error may be about any type of the file.
func (k *kinds) catalog() (*schema.Catalog, error) {
	compiled, err := k.compile(slices.Collect(maps.Keys(k.written))...)
	if err != nil {
		return nil, err
	}
	types := make(map[schema.GVK]*schema.Type, len(k.entries))
	for gvk, e := range k.entries {
		if types[gvk] = compiled[e.typeName]; types[gvk] == nil {
			return nil, fmt.Errorf("%v has the type %q, which is not defined", gvk, e.typeName)
		}
	}
	return schema.NewCatalog(types), nil
}

// compile returns the compiled types, which include those of the given names. The error is about a definition.
func (k *kinds) compile(names ...string) (map[string]*schema.Type, error) {
	known := k.known()
	if !slices.ContainsFunc(names, func(name string) bool { return known[name] == nil }) {
		return known, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	known = k.known()
	var missing []value.Value
	found := map[string]bool{}
	for _, name := range names {
		var err error
		if missing, err = k.collect(missing, name, found, known); err != nil {
			return nil, err
		}
	}
	doc, err := schema.ParseDocument(value.Object(value.Member{Name: "types", Value: value.List(missing...)}))
	if err != nil {
		return nil, err
	}
	if known, err = door.Open(schema.Internal{}).CompileBeside(doc, known); err != nil {
		return nil, err
	}
	k.compiled.Store(&known)
	return known, nil
}

// known returns the compiled types.
func (k *kinds) known() map[string]*schema.Type {
	if compiled := k.compiled.Load(); compiled != nil {
		return *compiled
	}
	return nil
}

// collect appends the definition of a type, and of the types that it refers to, unless they are in found or known already.
func (k *kinds) collect(
	defs []value.Value, name string, found map[string]bool, known map[string]*schema.Type,
) ([]value.Value, error) {
	text, defined := k.written[name]
	if found[name] || known[name] != nil || !defined {
		return defs, nil // the compiler reports undefined types
	}
	def, err := value.Parse([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	found[name] = true
	defs = append(defs, def)
	for _, other := range references(nil, def) {
		if defs, err = k.collect(defs, other, found, known); err != nil {
			return nil, err
		}
	}
	return defs, nil
}

// references appends the names of the types that a definition, or a part of one, refers to.
func references(names []string, part value.Value) []string {
	for name, member := range part.Members() {
		if name == "namedType" {
			names = append(names, member.Str())
		}
		names = references(names, member)
	}
	for item := range part.Items() {
		names = references(names, item)
	}
	return names
}

// emptyObject returns prints, which may be absent, with apiVersion and kind.
func emptyObject(gvk schema.GVK, prints value.Value) value.Value {
	if prints.IsAbsent() {
		prints = value.Object()
	}
	return prints.With("apiVersion", value.String(gvk.APIVersion())).With("kind", value.String(gvk.Kind))
}
