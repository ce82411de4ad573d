package secret

import (
	"strings"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/value"
)

// View masks the secrets of an object. The zero View hides everything.
type View struct {
	open    bool  // nothing is hidden
	secrets parts // the secrets; nil means everything, unless open is set
}

// Open is the view of data outside objects, such as a schema, a flag or a file: it hides nothing.
var Open = View{open: true}

// at returns the secrets of the value at path.
func (v View) at(path fieldpath.Path) parts {
	switch {
	case v.open:
		return nil
	case v.secrets == nil:
		return wholePart
	}
	return v.secrets.at(path)
}

// Hides reports whether the view may hide parts of the object.
func (v View) Hides() bool { return !v.open }

// HidesAt reports whether the value at path is hidden, or something in it.
func (v View) HidesAt(path fieldpath.Path) bool { return len(v.at(path)) > 0 }

// Value masks x, the value at path.
func (v View) Value(path fieldpath.Path, x value.Value) Value {
	shown, _ := pair(v.at(path), x, x)
	return Value{shown}
}

// Pair masks the values at path before and after a change. The masks of different secrets differ.
func (v View) Pair(path fieldpath.Path, before, after value.Value) (Value, Value) {
	before, after = pair(v.at(path), before, after)
	return Value{before}, Value{after}
}

// Object masks o, including its managed fields.
func (v View) Object(o managedfields.Object) managedfields.Object {
	o, _ = v.Objects(o, o)
	return o
}

// Objects masks two states of the object. The masks of different secrets differ.
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

// entries masks entries. An unreadable entry becomes empty, and so does a name that a readable set does not represent.
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

// set masks the members of s.
func (v View) set(s fieldpath.Set) fieldpath.Set {
	var out fieldpath.Builder
	for path := range s.All() {
		out.Add(v.path(path))
	}
	return out.Set()
}

// paths gives access to the internals of fieldpath beyond its API.
var paths = door.Open(fieldpath.Internal{})

// Path returns the masked text of path, which reads as the same path if nothing is masked: see [fieldpath.Path.Text].
func (v View) Path(path fieldpath.Path) string { return v.path(path).Text() }

// Step returns the text of e, a step below above.
func (v View) Step(above fieldpath.Path, e fieldpath.Element) string {
	if !v.open {
		e = v.element(v.at(above), e)
	}
	return fieldpath.Path{e}.Text()
}

// Last returns the text of the last step of path, empty for the empty path.
func (v View) Last(path fieldpath.Path) string {
	if len(path) == 0 {
		return ""
	}
	last := len(path) - 1
	return strings.TrimPrefix(v.Step(path[:last], path[last]), ".")
}

// path masks path: the keys and values of items, names inside values that are secret as a whole, and names in the notation of managed
// fields.
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

// element masks e, a step into a value with the secrets p.
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

// Name masks the name of a member, which may contain a value if it comes from managed fields.
func (v View) Name(name string) string {
	if v.open {
		return name
	}
	return withoutKeys(name)
}

// withoutKeys returns text up to the first key or value of an item in the notation of managed fields, such as v:"a" and k:{"name":"a"}.
func withoutKeys(text string) string {
	for i := range len(text) - 1 {
		if (text[i] == 'k' || text[i] == 'v') && text[i+1] == ':' && (i == 0 || strings.IndexByte(`."[ `, text[i-1]) >= 0) {
			return text[:i+2] + "…"
		}
	}
	return text
}

// Key identifies a path in maps. Keys of equal paths are equal, and a Key shows nothing.
type Key struct{ text string }

// KeyOf returns the key of path.
func KeyOf(path fieldpath.Path) Key { return Key{path.Text()} }

// Compare orders keys by the texts of their paths.
func (k Key) Compare(l Key) int { return strings.Compare(k.text, l.text) }

// String returns a fixed text and no path.
func (Key) String() string { return "(path)" }
