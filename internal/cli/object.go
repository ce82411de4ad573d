package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/value"
)

// object is an API object that was read. It has an apiVersion, a kind and a name.
type object struct {
	managedfields.Object
	origin
	id objectID
}

// objectID says which object is meant. Versions are not part of it.
type objectID struct{ group, kind, namespace, name string }

// String returns the kind, the namespace if there is one, and the name.
func (id objectID) String() string {
	if id.namespace == "" {
		return id.kind + " " + id.name
	}
	return id.kind + " " + id.namespace + "/" + id.name
}

// String returns the object as messages name it: by what it is, and by its document where the file has several.
func (o *object) String() string {
	if !o.several {
		return o.id.String()
	}
	return fmt.Sprintf("%v (document %d)", o.id, o.number)
}

// origin is where an object was found.
type origin struct {
	file    string
	part    *part // of the file; nil for what is not read as objects
	index   int   // of the document in the part
	number  int   // of the document in the file, counted from 1
	several bool  // whether the file has more documents
	doc     yaml.Document
	within  []any // the path to the object in the document: empty, but for the items of a list
}

// above returns how many lines of the file are above what the document was read from.
func (o origin) above() int {
	if o.part == nil {
		return 0
	}
	return o.part.above
}

// in returns the origin of what is at path below o.
func (o origin) in(path ...any) origin {
	o.within = slices.Concat(o.within, path)
	return o
}

// at returns the position of the value at path.
func (o origin) at(path ...any) position {
	line, column := o.doc.Position(slices.Concat(o.within, path)...)
	return position{file: o.file, line: line + o.above(), column: column}
}

// key returns the position of the name of the member at path.
func (o origin) key(path ...any) position {
	line, column := o.doc.KeyPosition(slices.Concat(o.within, path)...)
	return position{file: o.file, line: line + o.above(), column: column}
}

// objects returns the objects in texts, those inside lists one by one. What is wrong with the others is reported.
func (c *loader) objects(texts []*text) []*object {
	return c.objectsOnly(func(value.Value) bool { return true }, texts)
}

// objectsOnly is objects that passes over those that are not wanted.
func (c *loader) objectsOnly(want func(value.Value) bool, texts []*text) []*object {
	return c.objectsBy(reader{want: want}, texts)
}

// objectsBy is objects as r reads them.
func (c *loader) objectsBy(r reader, texts []*text) []*object {
	for _, t := range texts {
		t.repeating = r.repeating
	}
	c.parse(texts)
	var out []*object
	for _, t := range texts {
		r := r
		r.loader, r.text, r.objects = c, t, out
		r.all()
		out = r.objects
	}
	return out
}

// reader takes objects out of one text.
type reader struct {
	*loader
	*text
	want      func(value.Value) bool
	unnamed   bool // whether objects may leave their name to the server
	repeating bool // whether objects may have a name several times
	number    int  // of documents so far
	objects   []*object
}

// all takes the objects in all documents. A defective document does not hide others.
func (r *reader) all() {
	several := len(r.parts) > 1 || len(r.parts[0].docs) > 1
	for _, p := range r.parts {
		if p.err != nil {
			r.number++
			r.parseProblem(p.err)
		}
		for i, doc := range p.docs {
			r.number++
			before := len(r.objects)
			from := origin{file: r.name, part: p, index: i, number: r.number, several: several, doc: doc}
			r.unpack(from, doc.Value)
			r.repeated(from, r.objects[before:])
		}
	}
}

// unpack takes the object v, or the objects in the list v.
func (r *reader) unpack(from origin, v value.Value) {
	switch {
	case v.IsNull(): // is nothing, as kubectl has it
	case !isList(v) && !r.want(v):
	case v.Kind() != value.KindObject:
		r.problem(from.at(), "a document must be an object, but this is %s", show(v))
	case isList(v):
		items := v.Get("items")
		for i := range items.Len() {
			r.unpack(from.in("items", i), itemOf(v, items.Item(i)))
		}
	default:
		if o := r.object(from, v); o != nil {
			r.objects = append(r.objects, o)
		}
	}
}

const listSuffix = "List"

// isList reports whether v is a list of objects: of kind List, or what API servers answer for a collection.
func isList(v value.Value) bool {
	if !strings.HasSuffix(v.Get("kind").Str(), listSuffix) || !v.At("metadata", "name").IsAbsent() {
		return false
	}
	items := v.Get("items")
	return items.Kind() == value.KindList || items.IsNull()
}

// itemOf returns an item of list. The items of collections do not say what they are: the list does.
func itemOf(list, item value.Value) value.Value {
	kind := strings.TrimSuffix(list.Get("kind").Str(), listSuffix)
	if kind == "" || item.Kind() != value.KindObject || !item.Get("kind").IsAbsent() || !item.Get("apiVersion").IsAbsent() {
		return item
	}
	return item.With("kind", value.String(kind)).With("apiVersion", list.Get("apiVersion"))
}

// object returns v as an object, and nil, with all reasons reported, when it is none.
func (r *reader) object(from origin, v value.Value) *object {
	usable := true
	fail := func(where position, format string, args ...any) {
		usable = false
		r.problem(where, format, args...)
	}
	for _, name := range []string{"apiVersion", "kind"} {
		if reason := wantText(v.Get(name)); reason != "" {
			fail(from.at(name), "%s %s", name, reason)
		}
	}
	switch metadata := v.Get("metadata"); {
	case metadata.Kind() != value.KindObject && !metadata.IsAbsent() && !metadata.IsNull():
		fail(from.at("metadata"), "metadata must be an object, but is %s", show(metadata))
	case metadata.Get("name").IsAbsent() && metadata.Get("generateName").Kind() == value.KindString && r.unnamed:
	case metadata.Get("name").IsAbsent() && !metadata.Get("generateName").IsAbsent():
		fail(from.key("metadata", "generateName"),
			"metadata.name is missing: apply has to know which object it is about, so it cannot use generateName")
	default:
		if reason := wantText(metadata.Get("name")); reason != "" {
			fail(from.at("metadata", "name"), "metadata.name %s", reason)
		}
		if ns := metadata.Get("namespace"); !ns.IsAbsent() && !ns.IsNull() && ns.Kind() != value.KindString {
			fail(from.at("metadata", "namespace"), "metadata.namespace must be a string, but is %s", show(ns))
		}
	}
	content, err := managedfields.ObjectOf(v)
	if err != nil {
		fail(from.entry(err), "%v", err)
	}
	if !usable {
		return nil
	}
	metadata, gvk := v.Get("metadata"), content.GVK()
	id := objectID{gvk.Group, gvk.Kind, metadata.Get("namespace").Str(), metadata.Get("name").Str()}
	if id.name == "" {
		id.name = metadata.Get("generateName").Str() + "…"
	}
	return &object{Object: content, origin: from, id: id}
}

// wantText says what is wrong with v where a name is wanted, and nothing when it is one.
func wantText(v value.Value) string {
	switch {
	case v.IsAbsent(), v.IsNull():
		return "is missing"
	case v.Kind() == value.KindList, v.Kind() == value.KindObject:
		return "must be a string, but is " + show(v)
	case v.Kind() != value.KindString:
		return "must be a string, but is " + show(v) + "; quote it"
	case v.Str() == "":
		return "is empty"
	}
	return ""
}

// entry returns the position of the managedFields that err is about.
func (o origin) entry(err error) position {
	var e *managedfields.EntryError
	if errors.As(err, &e) {
		return o.at("metadata", "managedFields", e.Index)
	}
	return o.at("metadata", "managedFields")
}
