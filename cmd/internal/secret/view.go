package secret

import (
	"strings"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/value"
)

// View is an object as it may be seen. The zero View hides everything.
type View struct {
	open    bool  // nothing is hidden
	secrets parts // what is; nil is everything, unless open is set
}

// Open is the view of what is no object, such as a schema, a flag or a file: nothing is hidden.
var Open = View{open: true}

// at returns what is hidden of what path leads to.
func (v View) at(path fieldpath.Path) parts {
	switch {
	case v.open:
		return nil
	case v.secrets == nil:
		return wholePart
	}
	return v.secrets.at(path)
}

// Hides reports whether anything of the object is hidden, if it is there.
func (v View) Hides() bool { return !v.open }

// HidesAt reports whether what path leads to is hidden, or something in it.
func (v View) HidesAt(path fieldpath.Path) bool { return len(v.at(path)) > 0 }

// Value returns x, which is at path, as it may be shown.
func (v View) Value(path fieldpath.Path, x value.Value) Value {
	shown, _ := pair(v.at(path), x, x)
	return Value{shown}
}

// Pair returns two values of path as they may be shown, one before and one after a change: of secrets
// that differ it says so.
func (v View) Pair(path fieldpath.Path, before, after value.Value) (Value, Value) {
	before, after = pair(v.at(path), before, after)
	return Value{before}, Value{after}
}

// Object returns o as it may be shown, its managed fields too.
func (v View) Object(o managedfields.Object) managedfields.Object {
	o, _ = v.Objects(o, o)
	return o
}

// Objects returns two states of the object as they may be shown. Of secrets that differ they say so.
func (v View) Objects(before, after managedfields.Object) (managedfields.Object, managedfields.Object) {
	if v.open {
		return before, after
	}
	p := v.at(nil)
	old, new := pair(p, before.Content, after.Content)
	shown := func(o managedfields.Object, content value.Value) managedfields.Object {
		return managedfields.Object{Content: content, Entries: v.entries(o.Entries)}
	}
	return shown(before, old), shown(after, new)
}

// entries returns entries as they may be shown. What cannot be read is shown as nothing; so are names
// that a set does not have although it was read.
func (v View) entries(entries []managedfields.Entry) []managedfields.Entry {
	out := make([]managedfields.Entry, len(entries))
	for i, e := range entries {
		out[i] = e
		set, err := e.FieldsV1.Set()
		if err != nil {
			set = fieldpath.Set{}
		}
		out[i].FieldsV1 = managedfields.FieldsOf(v.set(set))
	}
	if entries == nil {
		return nil
	}
	return out
}

// set returns the members of s as they may be shown.
func (v View) set(s fieldpath.Set) fieldpath.Set {
	var out fieldpath.Builder
	for path := range s.All() {
		out.Add(v.path(path))
	}
	return out.Set()
}

// paths is what this package needs of fieldpath beyond its API.
var paths = door.Open(fieldpath.Internal{})

// Path returns path as text that reads as the same path, see [fieldpath.Path.Text], but for secrets
// in it.
func (v View) Path(path fieldpath.Path) string { return v.path(path).Text() }

// Step returns the text of e, which leads on from what above leads to.
func (v View) Step(above fieldpath.Path, e fieldpath.Element) string {
	if !v.open {
		e = v.element(v.at(above), e)
	}
	return fieldpath.Path{e}.Text()
}

// Last returns what the last step of path leads to is called, empty for the empty path.
func (v View) Last(path fieldpath.Path) string {
	if len(path) == 0 {
		return ""
	}
	last := len(path) - 1
	return strings.TrimPrefix(v.Step(path[:last], path[last]), ".")
}

// path returns path with the secrets in it masked: the keys and values of items, names inside of what
// is secret as a whole, and names that are elements as managed fields write them.
func (v View) path(path fieldpath.Path) fieldpath.Path {
	if v.open {
		return path
	}
	out := make(fieldpath.Path, len(path))
	for i, e := range path {
		out[i] = v.element(v.at(path[:i]), e)
	}
	return out
}

// element returns e, which leads into something in which p is secret, with the secrets masked.
func (v View) element(p parts, e fieldpath.Element) fieldpath.Element {
	below := p.step(e)
	switch e.Kind() {
	case fieldpath.KindField:
		if p.areWhole() {
			return fieldpath.Field(masked)
		}
		return fieldpath.Field(withoutKeys(e.Name()))
	case fieldpath.KindItem:
		masked, _ := pair(below, e.Value(), e.Value())
		return fieldpath.Item(masked)
	case fieldpath.KindKey:
		fields := e.Fields()
		for i, f := range fields {
			fields[i].Value, _ = pair(below.step(fieldpath.Field(f.Name)), f.Value, f.Value)
		}
		return fieldpath.Key(fields...)
	}
	return e
}

// Name returns the name of a member, in which there may be a value if it is one of managed fields.
func (v View) Name(name string) string {
	if v.open {
		return name
	}
	return withoutKeys(name)
}

// withoutKeys returns text up to the first key or value of an item as managed fields write it, such
// as v:"a" and k:{"name":"a"}.
func withoutKeys(text string) string {
	for i := range len(text) - 1 {
		if (text[i] == 'k' || text[i] == 'v') && text[i+1] == ':' && (i == 0 || strings.IndexByte(`."[ `, text[i-1]) >= 0) {
			return text[:i+2] + "…"
		}
	}
	return text
}

// Key stands for a path where paths are looked up. It is equal for equal paths, and shows nothing.
type Key struct{ text string }

// KeyOf returns what stands for path.
func KeyOf(path fieldpath.Path) Key { return Key{path.Text()} }

// Compare orders the keys of paths by the texts of these.
func (k Key) Compare(l Key) int { return strings.Compare(k.text, l.text) }

// String returns no path.
func (Key) String() string { return "(path)" }
