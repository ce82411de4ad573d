package manifest

import (
	"fmt"
	"strings"

	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/value"
)

// Objects returns the objects in texts, including the items of lists. It reports objects that cannot be read.
func (c *Loader) Objects(texts []*Text) []*Object {
	return c.ObjectsOnly(func(value.Value) bool { return true }, texts)
}

// ObjectsOnly is [Loader.Objects] for the objects that want selects.
func (c *Loader) ObjectsOnly(want func(value.Value) bool, texts []*Text) []*Object {
	return c.ObjectsBy(Reader{Want: want}, texts)
}

// ObjectsBy is [Loader.Objects] with the options of r.
func (c *Loader) ObjectsBy(r Reader, texts []*Text) []*Object {
	for _, t := range texts {
		t.repeating = r.Repeating
	}
	c.Parse(texts)
	var out []*Object
	for _, t := range texts {
		r := r
		r.Loader, r.Text = c, t
		r.several = len(t.Parts) > 1 || len(t.Parts[0].Docs) > 1
		for _, p := range t.Parts {
			out = append(out, r.take(parsed{part: p, docs: p.Docs, err: p.Err})...)
		}
	}
	return out
}

// Reader reads the objects of one text.
type Reader struct {
	*Loader
	*Text
	Want      func(value.Value) bool
	Unnamed   bool   // whether objects may lack a name because the server generates it
	Fallback  string // the name of an object without one; empty if unknown
	Repeating bool   // whether a name may occur several times in an object
	Given     bool   // whether the objects are to be written: a server refuses an object with a duplicate name
	several   bool   // whether the text has several documents
	number    int    // the number of documents so far
	objects   []*Object
}

// parsed is the result of parsing a part.
type parsed struct {
	*part
	docs  []yaml.Document
	err   error // why there are no documents
	whole bool  // whether the document is the whole list that contains the part as an item
}

// take returns the objects in p. A defective document does not hide others.
func (r *Reader) take(p parsed) []*Object {
	r.objects = nil
	if p.frame == nil || p.item == 0 {
		r.number++
	}
	if p.err != nil {
		r.unreadable(p)
	}
	for i, doc := range p.docs {
		if i > 0 {
			r.number++
		}
		before := len(r.objects)
		from := Origin{File: r.Name, Part: p.part, Index: i, Number: r.number, several: r.several, Doc: doc}
		r.document(from, p)
		r.repeated(from, r.objects[before:])
	}
	if p.err == nil && len(p.docs) == 0 {
		r.number-- // there was no document
	}
	return r.objects
}

// unreadable reports why p has no documents.
func (r *Reader) unreadable(p parsed) {
	n := r.problemOf(p.err)
	if _, err := yaml.ParseRepeating(r.Name, p.data); err == nil && r.Given {
		n.Class = notice.Refused
	}
	r.Report(n)
}

// document takes the objects in a document of p. If p is an item of a YAML list, the document is a list of this item alone.
func (r *Reader) document(from Origin, p parsed) {
	switch v := from.Doc.Value; {
	case p.frame == nil:
		r.unpack(from, v)
	case p.whole:
		r.listed(from.In("items", p.item), itemOf(p.frame.value, v.Get("items").Item(p.item)))
	case v.Kind() == value.KindList:
		r.listed(from.In(0), itemOf(p.frame.value, v.Item(0)))
	default:
		r.listed(from, itemOf(p.frame.value, v))
	}
}

// listed takes the object v, an item of a list.
func (r *Reader) listed(from Origin, v value.Value) {
	if v.IsNull() {
		r.Problem(from.At(), "an item of a list must be an object, but this is null")
		return
	}
	r.unpack(from, v)
}

// unpack takes the object v, or the objects in the list v.
func (r *Reader) unpack(from Origin, v value.Value) {
	switch {
	case v.IsNull(): // kubectl ignores null documents
	case !isList(v) && !r.Want(v):
	case v.Kind() != value.KindObject:
		r.Problem(from.At(), "a document must be an object, but this is %s", secret.Unplaced(v))
	case isList(v):
		items := v.Get("items")
		for i := range items.Len() {
			r.listed(from.In("items", i), itemOf(v, items.Item(i)))
		}
	default:
		if o := r.Object(from, v); o != nil {
			r.objects = append(r.objects, o)
		}
	}
}

// ListSuffix is the suffix of the kinds of lists.
const ListSuffix = "List"

// isList reports whether v is a list of objects: of kind List, or a collection of an API server.
func isList(v value.Value) bool {
	if !strings.HasSuffix(v.Get("kind").Str(), ListSuffix) || !v.Get("metadata", "name").IsAbsent() {
		return false
	}
	items := v.Get("items")
	return items.Kind() == value.KindList || items.IsNull()
}

// itemOf returns an item of list. Items of collections lack apiVersion and kind, which list implies.
func itemOf(list, item value.Value) value.Value {
	kind := strings.TrimSuffix(list.Get("kind").Str(), ListSuffix)
	if kind == "" || item.Kind() != value.KindObject || !item.Get("kind").IsAbsent() || !item.Get("apiVersion").IsAbsent() {
		return item
	}
	return item.With("kind", value.String(kind)).With("apiVersion", list.Get("apiVersion"))
}

// Object returns v as an object, or nil with all reasons reported.
func (r *Reader) Object(from Origin, v value.Value) *Object {
	v = r.named(v)
	r.Secrets.Learn(v)
	view, usable := r.Secrets.View(v), true
	fail := func(where notice.Position, format string, args ...any) {
		usable = false
		r.Problem(where, format, args...)
	}
	for _, name := range []string{"apiVersion", "kind"} {
		if reason := from.wantText(view, v, name); reason != "" {
			fail(from.At(name), "%s %s", name, reason)
		}
	}
	switch metadata := v.Get("metadata"); {
	case metadata.Kind() != value.KindObject && !metadata.IsAbsent() && !metadata.IsNull():
		fail(from.At("metadata"), "metadata must be an object, but is %v", view.Value(PathOf("metadata"), metadata))
	case metadata.Get("name").IsAbsent() && v.Get("kind").Str() == ListSuffix: // see isList
		fail(from.At("items"), "a List must have items, and items must be a list of objects")
	case metadata.Get("name").IsAbsent() && metadata.Get("generateName").Kind() == value.KindString && r.Unnamed:
	case metadata.Get("name").IsAbsent() && !metadata.Get("generateName").IsAbsent():
		fail(from.Key("metadata", "generateName"),
			"metadata.name is missing: apply has to know which object it is about, so it cannot use generateName")
	default:
		if reason := from.wantText(view, v, "metadata", "name"); reason != "" {
			fail(from.At("metadata", "name"), "metadata.name %s", reason)
		}
		if ns := metadata.Get("namespace"); !ns.IsAbsent() && !ns.IsNull() && ns.Kind() != value.KindString {
			fail(from.At("metadata", "namespace"), "metadata.namespace must be a string, but is %v",
				view.Value(PathOf("metadata", "namespace"), ns))
		}
	}
	content, err := managedfields.ObjectOf(v)
	if err != nil {
		fail(from.Entry(err), "%s", view.Error(err))
	}
	if !usable {
		return nil
	}
	id := IDOf(content)
	if id.Name == "" {
		id.Name = v.Get("metadata", "generateName").Str() + "…"
	}
	return &Object{Object: content, Origin: from, Id: id, secrets: r.Secrets, found: NewFinder(content.Content)}
}

// named returns the object v, with the fallback name if it has none.
func (r *Reader) named(v value.Value) value.Value {
	metadata := v.Get("metadata")
	if metadata.IsAbsent() || metadata.IsNull() {
		metadata = value.Object()
	}
	if name := metadata.Get("name"); r.Fallback == "" || metadata.Kind() != value.KindObject || !name.IsAbsent() && !name.IsNull() {
		return v
	}
	return v.With("metadata", metadata.With("name", value.String(r.Fallback)))
}

// PathOf returns the path with the given names.
func PathOf(names ...string) fieldpath.Path {
	var out fieldpath.Path
	for _, name := range names {
		out = append(out, fieldpath.Field(name))
	}
	return out
}

// wantText returns why the value at names in root is no valid name, or "" if it is one. view masks the value.
func (o Origin) wantText(view secret.View, root value.Value, names ...string) string {
	v, path := root.Get(names...), make([]any, len(names))
	for i, name := range names {
		path[i] = name
	}
	shown := view.Value(PathOf(names...), v).String()
	switch {
	case v.IsAbsent(), v.IsNull():
		return "is missing"
	case v.Kind() == value.KindList, v.Kind() == value.KindObject:
		return "must be a string, but is " + shown
	case v.Kind() == value.KindBool && o.Doc.BooleanWord(o.In(path...).Within...) != "":
		return fmt.Sprintf("must be a string, but %s is a boolean in YAML 1.1; quote it", o.Doc.BooleanWord(o.In(path...).Within...))
	case v.Kind() != value.KindString:
		return "must be a string, but is " + shown + "; quote it"
	case v.Str() == "":
		return "is empty"
	}
	return ""
}
