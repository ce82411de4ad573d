package typed

import (
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/internal/slab"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Functions of lower packages outside their API.
var (
	paths   = door.Open(fieldpath.Internal{})
	schemas = door.Open(schema.Internal{})
	values  = door.Open(value.Internal{})
)

// Internal gives the other packages of this module access to functions outside the API. No other
// module can open it: see docs/decisions/0025.
type Internal = door.Door[internal]

// internal is the type behind the door. It has no fields, so that its methods are plain functions.
type internal struct{}

// Empty returns the null value of type t, whether or not t has a defect.
func (internal) Empty(t *schema.Type) Value { return empty(t) }

// Same reports in constant time whether v and w are the same storage and of the same type.
func (internal) Same(v, w Value) bool { return v.same(w) }

// At returns the value that v has at path, or absent. It returns the first of several items with
// one identity. It searches each list on the path from its beginning, so [Walk] is cheaper for many
// paths.
func (internal) At(v Value, path fieldpath.Path) value.Value { return v.at(path) }

// Revise returns content as a value of v's type, as [New] does. It does not check again the parts
// that content shares with v.
func (internal) Revise(v Value, content value.Value, opts ...Option) (Value, error) {
	return v.revise(content, opts...)
}

// FieldsLike returns v.Fields().Minus(except). If that set equals known, FieldsLike returns known
// itself and allocates no memory.
func (internal) FieldsLike(v Value, known, except fieldpath.Set) fieldpath.Set {
	return v.fieldsLike(known, except)
}

// FilledEmpty reports whether v was merged from a configuration with null or an empty object where
// the live object has members or items, which the merge kept.
func (internal) FilledEmpty(v Value) bool { return v.filled }

// RemoveKeepingEmptied is [Value.Remove], but where Remove makes an object or list below the root
// null, it makes the object or list empty.
func (internal) RemoveKeepingEmptied(v Value, s fieldpath.Set) Value { return v.remove(s, true) }

// ExtractWithKeys is [Value.Extract], but also extracts the keys of each keyed item on a path of s,
// if v has these keys. An item becomes just its keys if s has only the item's own path.
func (internal) ExtractWithKeys(v Value, s fieldpath.Set) Value { return v.extractWithKeys(s) }

// Comparable reports in constant time whether [Compare] cannot fail for v and w. It may be false
// for values that Compare accepts.
func (internal) Comparable(v, w Value) bool {
	return v.tidy && w.tidy && checkTypes(v, w) == nil
}

// CompareWithout is [Compare], but leaves the paths of except out of Diff.Added.
func (internal) CompareWithout(old, new Value, except fieldpath.Set) (Diff, error) {
	return compareWithout(old, new, except)
}

// IsEmpty reports whether d holds no difference.
func (internal) IsEmpty(d Diff) bool { return d.isEmpty() }

// ElementOf returns the path element of item in a list that l describes. It returns false if the
// items of l have no identity, as in an atomic list, or if item has none: see rule V5 of [New]. The
// text of the element is cut from t.
func (internal) ElementOf(t *slab.Text, l *schema.List, item value.Value) (fieldpath.Element, bool) {
	return itemElement(t, l, item)
}

// WithNamedFields returns s and each declared field that has paths of s below it. In the result, an
// object that exists because of its members counts as owned with them. Items, and members that only
// the element type of a map admits, are not added.
func (internal) WithNamedFields(s fieldpath.Set, t *schema.Type) fieldpath.Set {
	return withNamedFields(s, t)
}

// NamedFields returns WithNamedFields of v.Fields().
func (internal) NamedFields(v Value) fieldpath.Set { return v.namedFields() }

// Lost returns the paths of fields that left lacks. fields must be the NamedFields of a value, and
// left that value without s, by [Value.Remove] or RemoveKeepingEmptied.
func (internal) Lost(fields, s fieldpath.Set, left Value) fieldpath.Set { return lost(fields, s, left) }
