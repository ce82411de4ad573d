package typed

import (
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/internal/slab"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// What this package needs of the packages below beyond their API.
var (
	paths   = door.Open(fieldpath.Internal{})
	schemas = door.Open(schema.Internal{})
	values  = door.Open(value.Internal{})
)

// Internal gives the other packages of this module access to functions outside the API. No other
// module can open it: see docs/decisions/0025.
type Internal = door.Door[internal]

// internal is what is behind the door: a struct without fields, so that its methods are functions.
type internal struct{}

// Empty returns the null value of type t, whether or not t has a defect.
func (internal) Empty(t *schema.Type) Value { return empty(t) }

// Same reports in constant time whether v and w are the same storage and of the same type.
func (internal) Same(v, w Value) bool { return v.same(w) }

// At returns what v has at path, and absent when it has nothing there. Of items that are there
// several times it is the first. Each list on the way is searched from its beginning: whoever wants
// to know of many paths takes [Walk].
func (internal) At(v Value, path fieldpath.Path) value.Value { return v.at(path) }

// Revise returns content as a value of v's type, as [New] does. Nothing that content shares with v
// is checked again.
func (internal) Revise(v Value, content value.Value, opts ...Option) (Value, error) {
	return v.revise(content, opts...)
}

// FieldsLike returns v.Fields().Minus(except). Where that equals known, it is known itself, and
// costs no memory.
func (internal) FieldsLike(v Value, known, except fieldpath.Set) fieldpath.Set {
	return v.fieldsLike(known, except)
}

// FilledEmpty reports whether v was merged from a configuration that has an empty object or null
// somewhere where the live object has members or items, which v kept.
func (internal) FilledEmpty(v Value) bool { return v.filled }

// RemoveKeepingEmptied is [Value.Remove], but an object or list below the root that has nothing left
// stays empty, and does not become null.
func (internal) RemoveKeepingEmptied(v Value, s fieldpath.Set) Value { return v.remove(s, true) }

// ExtractWithKeys is [Value.Extract], but gives each item of a keyed list that it extracts parts of
// its keys, as far as v has them. An item of which s has nothing but its own path becomes just its
// keys.
func (internal) ExtractWithKeys(v Value, s fieldpath.Set) Value { return v.extractWithKeys(s) }

// Comparable reports in constant time whether [Compare] of v and w certainly returns no error.
func (internal) Comparable(v, w Value) bool {
	return v.tidy && w.tidy && checkTypes(v, w) == nil
}

// IsEmpty reports whether d is no difference.
func (internal) IsEmpty(d Diff) bool { return d.isEmpty() }

// ElementOf returns the path element of item in a list that l describes, its text cut from t. It is
// false where items are not told apart, as in an atomic list, and for an item that has no identity:
// see rule V5 of [New].
func (internal) ElementOf(t *slab.Text, l *schema.List, item value.Value) (fieldpath.Element, bool) {
	return itemElement(t, l, item)
}

// WithNamedFields returns s with every declared field added that s has paths below: the set as it
// is when objects that exist because of their members count as owned with them. Members that only a
// map's element type admits, and items, are not added.
func (internal) WithNamedFields(s fieldpath.Set, t *schema.Type) fieldpath.Set {
	return withNamedFields(s, t)
}

// NamedFields is WithNamedFields of v.Fields().
func (internal) NamedFields(v Value) fieldpath.Set { return v.namedFields() }

// Lost returns which of fields left has not: they are the NamedFields of a value, and left is that
// value without s, by [Value.Remove] or RemoveKeepingEmptied.
func (internal) Lost(fields, s fieldpath.Set, left Value) fieldpath.Set { return lost(fields, s, left) }
