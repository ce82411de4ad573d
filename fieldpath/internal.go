package fieldpath

import (
	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/internal/jsontext"
	"github.com/deed-project/deed/internal/slab"
	"github.com/deed-project/deed/value"
)

// Internal gives the other packages of this module access to functions outside the API. No other
// module can open it: see docs/decisions/0025.
type Internal = door.Door[internal]

// internal is what is behind the door: a struct without fields, so that its methods are functions.
type internal struct{}

// Key is the function [Key], its text cut from t. It does not retain fields.
func (internal) Key(t *slab.Text, fields []KeyField) Element { return cutKey(t, fields) }

// Item is the function [Item], its text cut from t.
func (internal) Item(t *slab.Text, v value.Value) Element { return cutItem(t, v) }

// Compare orders all elements: it returns -1, 0 or 1 as a sorts before, with or after b. It is 0
// exactly when a == b.
func (internal) Compare(a, b Element) int { return compareElements(a, b) }

// ParseElement reads an element as fieldsV1 names it. The error is UnknownKind or a
// [*SyntaxError].
func (internal) ParseElement(wire string) (Element, error) { return parseElement(wire) }

// UnknownKind is the error for an element of a kind that is none of fieldsV1.
func (internal) UnknownKind() error { return errUnknownKind }

// AppendWire appends [Element.Wire] to b.
func (internal) AppendWire(e Element, b []byte) []byte { return e.appendWire(b) }

// Decimal returns p as messages about values show it: as [Path.String] does, but with integers in
// decimal. The reference prints integers of values so, but reads those of stored sets as floats,
// which String stands for.
func (internal) Decimal(p Path) string { return p.styled(styleDecimal) }

// Enter goes to the path of e below the current path of b.
func (internal) Enter(b *Builder, e Element) { b.enter(e) }

// Leave comes back from the path last entered, which is a member if member says so or if it came
// before as a member. A path that is no member and has none below is dropped. Leave panics when no
// path is entered.
func (internal) Leave(b *Builder, member bool) { b.leave(member) }

// Leaf is Enter(e) and Leave(true).
func (internal) Leaf(b *Builder, e Element) { b.leaf(e) }

// IncludeAll makes every path above a member of b a member, too. Nothing may be entered or expected.
func (internal) IncludeAll(b *Builder) { b.includeAll() }

// AddSet makes all members of s, put below the current path of b, members.
func (internal) AddSet(b *Builder, s Set) { b.addSet(s) }

// Expect makes [Builder.Set] return s itself if that is the set that is built; then building costs
// no memory. b must be empty.
func (internal) Expect(b *Builder, s Set) { b.expect(s) }

// Branches yields the entries of s that have members below their element, in order.
func (internal) Branches(s Set) func(yield func(Entry) bool) { return s.branches() }

// Within returns what s.Without(other) leaves out. It reports whether there is a path, perhaps the
// empty one, of which all that s has directly below it is in other.
func (internal) Within(s, other Set) (in Set, emptied bool) { return s.within(other) }

// Include returns s with those paths made members that want says. want is called for each path that
// has members below it, with the path's last element and the number of elements in front of that. It
// also says whether to go on below the path.
func (internal) Include(s Set, want func(depth int, e Element) (member, descend bool)) Set {
	return s.include(want)
}

// Filter returns the members of s that p keeps.
func (internal) Filter(s Set, p Pattern) Set { return s.filter(p) }

// Same reports in constant time whether s and other are the same storage or both empty. Same sets
// are Equal; Equal sets need not be the same.
func (internal) Same(s, other Set) bool { return s.same(other) }

// Width returns how many entries [Set.Entries] has.
func (internal) Width(s Set) int { return width(s.nodes) }

// Storage returns what is equal for two sets exactly if they are the Same.
func (internal) Storage(s Set) any { return s.storage() }

// Size returns how many bytes of memory s keeps alive, which may be more than it needs, as sets
// share what they are made of.
func (internal) Size(s Set) int { return s.size() }

// ParseCanonical is [ParseSet] and reports whether [Set.AppendJSON] would write these very bytes.
// copied is the copy of fieldsV1 that names in the set share: who keeps it beside the set keeps
// nothing more alive.
func (internal) ParseCanonical(fieldsV1 []byte) (s Set, copied string, canonical bool, err error) {
	return parseCanonical(jsontext.Lend(fieldsV1))
}

// ParseCanonicalString is ParseCanonical of a string.
func (internal) ParseCanonicalString(fieldsV1 string) (s Set, copied string, canonical bool, err error) {
	return parseCanonical(fieldsV1)
}

// ParseTrailing is [ParseSet] that passes over text behind the JSON of a key or item, such as the x of v:1x.
func (internal) ParseTrailing(fieldsV1 []byte) (Set, error) { return parseTrailing(fieldsV1) }

// FromAny is FromValue for fieldsV1 as unstructured objects hold it. It reports whether ToAny would
// give an equal map, as MatchesAny does. The error is that of [value.FromAny] or of [ParseSet].
func (internal) FromAny(fieldsV1 map[string]any) (s Set, canonical bool, err error) {
	return fromAny(fieldsV1)
}

// FromValue is [ParseSet] for fieldsV1 that is part of a document already. It reports whether Value
// would give an equal document.
func (internal) FromValue(fieldsV1 value.Value) (s Set, canonical bool, err error) {
	return fromValue(fieldsV1)
}

// MatchesAny reports whether fieldsV1 is equal to what ToAny gives. It is a quick way to know that
// FromAny would give a set equal to s, and quickest for a set that FromAny gave.
func (internal) MatchesAny(s Set, fieldsV1 map[string]any) bool { return s.matchesAny(fieldsV1) }

// ToAny returns s as unstructured objects hold it. The map and all in it are new, but the empty
// maps in it are one and the same.
func (internal) ToAny(s Set) map[string]any {
	content, _ := s.toAny()
	return content
}

// ToAnySize is ToAny, and returns about how many bytes of memory the map takes.
func (internal) ToAnySize(s Set) (content map[string]any, size int) { return s.toAny() }

// JSON returns what [Set.AppendJSON] appends to nothing.
func (internal) JSON(s Set) string { return s.json() }

// Value returns s as a document: what [value.Parse] reads from the text that [Set.AppendJSON]
// writes.
func (internal) Value(s Set) value.Value { return s.document() }
