package value

import "github.com/deed-project/deed/internal/door"

// Internal is for the packages of this module alone: it is no part of the API, and nobody else can
// open it. See docs/decisions/0025.
var Internal = door.To(internal{})

// internal is what is behind the door: a struct without fields, so that its methods are functions.
type internal struct{}

// Members returns the members of v, which must not be modified, and none of what is no object.
func (internal) Members(v Value) []Member {
	if v.Kind() != KindObject {
		return nil
	}
	return v.object()
}

// Items returns the items of v, which must not be modified, and none of what is no list.
func (internal) Items(v Value) []Value {
	if v.Kind() != KindList {
		return nil
	}
	return v.list()
}

// ParseAlone is d.Parse for a text that nobody expects to be like another: the options of d count,
// and nothing is noted for a text that follows.
func (internal) ParseAlone(d Decoder, text []byte) (Value, error) { return d.parseAlone(text) }

// Sorted returns the object of members, which are in name order, none of them twice. It keeps them.
func (internal) Sorted(members []Member) Value { return fromMembers(members) }

// Exactly reports whether v, which was converted after former, is the very same document: the same
// storage, or an equal string.
func (internal) Exactly(v, former Value) bool { return exactly(v, former) }

// IsString reports whether v is the string s.
func (internal) IsString(v Value, s string) bool { return v.isString(s) }

// Share returns v with what former has, where both have the same: see [Value.Same]. It is former
// itself if that is exactly v.
func (internal) Share(v, former Value) Value { return share(v, former) }
