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

// internal is the type behind the door. It has no fields, so that its methods are plain functions.
type internal struct{}

// Key is the function [Key] with its text cut from t. It does not retain fields.
func (internal) Key(t *slab.Text, fields []KeyField) Element { return cutKey(t, fields) }

// Item is the function [Item] with its text cut from t.
func (internal) Item(t *slab.Text, v value.Value) Element { return cutItem(t, v) }

// Compare returns -1 if a sorts before b, 1 if a sorts after b, and 0 exactly when a == b.
func (internal) Compare(a, b Element) int { return compareElements(a, b) }

// ParseElement reads an element as fieldsV1 names it. The error is UnknownKind or a
// [*SyntaxError].
func (internal) ParseElement(wire string) (Element, error) { return parseElement(wire) }

// UnknownKind returns the error for an element of a kind that fieldsV1 does not have.
func (internal) UnknownKind() error { return errUnknownKind }

// AppendWire appends [Element.Wire] to b.
func (internal) AppendWire(e Element, b []byte) []byte { return e.appendWire(b) }

// Decimal returns p as messages about values show it: like [Path.String], but with integers in
// decimal. The reference prints integers of values in decimal. It reads integers of stored sets as
// floats, and String prints them as floats.
func (internal) Decimal(p Path) string { return p.styled(styleDecimal) }

// Enter goes to the path of e below the current path of b.
func (internal) Enter(b *Builder, e Element) { b.enter(e) }

// Leave goes back from the path last entered. That path is a member if member is true, or if it was
// added as a member before. Leave drops a path that is no member and has no members below it. It
// panics if no path is entered.
func (internal) Leave(b *Builder, member bool) { b.leave(member) }

// Leaf does the same as Enter(e) and Leave(true).
func (internal) Leaf(b *Builder, e Element) { b.leaf(e) }

// IncludeAll makes every path above a member of b a member, too. No path may be entered, and no set
// expected.
func (internal) IncludeAll(b *Builder) { b.includeAll() }

// AddSet adds all members of s below the current path of b.
func (internal) AddSet(b *Builder, s Set) { b.addSet(s) }

// Expect makes [Builder.Set] return s itself if b builds a set equal to s. Building then takes no
// memory for a new set. b must be empty.
func (internal) Expect(b *Builder, s Set) { b.expect(s) }

// SetWithout is b.Set().Minus(except). It copies what is left only once.
func (internal) SetWithout(b *Builder, except Set) Set { return b.setWithout(except) }

// Branches yields the entries of s that have members below their element, in order.
func (internal) Branches(s Set) func(yield func(Entry) bool) { return s.branches() }

// Within returns the members that s.Without(other) drops. emptied reports whether all paths that s
// has directly below some path are members of other. That path may be the empty one. Paths below a
// member of other do not count.
func (internal) Within(s, other Set) (in Set, emptied bool) { return s.within(other) }

// Include returns s with further members: the paths for which want returns member. It calls want for
// each path that has members below it. depth is the number of elements in front of e, the last
// element of the path. descend says whether to go on below the path.
func (internal) Include(s Set, want func(depth int, e Element) (member, descend bool)) Set {
	return s.include(want)
}

// Filter returns the members of s that p keeps.
func (internal) Filter(s Set, p Pattern) Set { return s.filter(p) }

// Same reports in constant time whether s and other share their storage or are both empty. Sets that
// are the Same are Equal; Equal sets need not be the Same.
func (internal) Same(s, other Set) bool { return s.same(other) }

// Width returns the number of entries of [Set.Entries].
func (internal) Width(s Set) int { return width(s.nodes) }

// Storage returns a value that is equal for two sets exactly if they are the Same.
func (internal) Storage(s Set) any { return s.storage() }

// Size returns how many bytes of memory s keeps alive. Sets share memory, so s may need less.
func (internal) Size(s Set) int { return s.size() }

// ParseCanonical is [ParseSet]. canonical reports whether [Set.AppendJSON] would write exactly these
// bytes. copied is the copy of fieldsV1 that names in the set share. To keep it together with the set
// takes no further memory.
func (internal) ParseCanonical(fieldsV1 []byte) (s Set, copied string, canonical bool, err error) {
	return parseCanonical(jsontext.Lend(fieldsV1))
}

// ParseCanonicalString is ParseCanonical of a string.
func (internal) ParseCanonicalString(fieldsV1 string) (s Set, copied string, canonical bool, err error) {
	return parseCanonical(fieldsV1)
}

// ParseTrailing is [ParseSet] that ignores text after the JSON of a key or item, such as the x of v:1x.
func (internal) ParseTrailing(fieldsV1 []byte) (Set, error) { return parseTrailing(fieldsV1) }

// FromAny is FromValue for fieldsV1 as unstructured objects hold it. canonical reports, as MatchesAny
// does, whether ToAny would return an equal map. The error is that of [value.FromAny] or of [ParseSet].
func (internal) FromAny(fieldsV1 map[string]any) (s Set, canonical bool, err error) {
	return fromAny(fieldsV1)
}

// FromValue is [ParseSet] for fieldsV1 that is part of a document already. canonical reports whether
// Value would return an equal document.
func (internal) FromValue(fieldsV1 value.Value) (s Set, canonical bool, err error) {
	return fromValue(fieldsV1)
}

// MatchesAny reports whether fieldsV1 is equal to the map that ToAny returns. If so, FromAny returns a
// set equal to s, but MatchesAny is quicker. It is quickest for a set that FromAny returned.
func (internal) MatchesAny(s Set, fieldsV1 map[string]any) bool { return s.matchesAny(fieldsV1) }

// ToAny returns s as unstructured objects hold it. The map and its content are new, but all empty
// maps in it are one map.
func (internal) ToAny(s Set) map[string]any {
	content, _ := s.toAny()
	return content
}

// ToAnySize is ToAny. size is about how many bytes of memory the map takes.
func (internal) ToAnySize(s Set) (content map[string]any, size int) { return s.toAny() }

// JSON returns s as [Set.AppendJSON] writes it.
func (internal) JSON(s Set) string { return s.json() }

// Value returns s as the document that [value.Parse] reads from the text that [Set.AppendJSON]
// writes.
func (internal) Value(s Set) value.Value { return s.document() }
