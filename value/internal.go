package value

import "github.com/deed-project/deed/internal/door"

// Internal gives the other packages of this module access to functions outside the API. No other
// module can open it: see docs/decisions/0025.
type Internal = door.Door[internal]

// internal is the struct behind the door. It has no fields, so that its methods are functions.
type internal struct{}

// Members returns the members of v, which must not be modified, or nil if v is no object.
func (internal) Members(v Value) []Member {
	if v.Kind() != KindObject {
		return nil
	}
	return v.object()
}

// Items returns the items of v, which must not be modified, or nil if v is no list.
func (internal) Items(v Value) []Value {
	if v.Kind() != KindList {
		return nil
	}
	return v.list()
}

// ParseAlone is d.Parse without comparison. It uses the options of d and leaves d unchanged.
func (internal) ParseAlone(d Decoder, text []byte) (Value, error) { return d.parseAlone(text) }

// SetKnown sets a function for values that stay text, see [Decoder.Text]. known returns an equal
// string that is in memory already, or "". It must not keep the text.
func (internal) SetKnown(d *Decoder, known func(text string) string) { d.known = known }

// Sorted returns the object of members, which must be in name order without duplicate names. It
// keeps the slice.
func (internal) Sorted(members []Member) Value { return fromMembers(members) }

// Exactly reports whether v is the same storage as former, or an equal string.
func (internal) Exactly(v, former Value) bool { return exactly(v, former) }

// IsString reports whether v is the string s.
func (internal) IsString(v Value, s string) bool { return v.isString(s) }

// Share returns v with the equal parts of former in place of its own: see [Value.Same]. It returns
// former itself if both are equal.
func (internal) Share(v, former Value) Value { return share(v, former) }

// LongerThan estimates whether the JSON text of v is longer than most, in bytes. It stops at that
// length, so parts that v contains many times do not raise the cost.
func (internal) LongerThan(v Value, most int) bool { return v.room(most) < 0 }

// WithAll returns the object v with each member of the object other set, as With does. A value that
// is no object counts as the empty object. Cost: n log n in the members of both.
func (internal) WithAll(v, other Value) Value {
	var old, set []Member
	same := v.Kind() == KindObject
	if same {
		old = v.members()
	}
	if other.Kind() == KindObject {
		set = other.members()
	}
	out := make([]Member, 0, len(old)+len(set))
	for _, m := range set {
		i, found := search(old, m.Name)
		out = append(out, old[:i]...)
		old = old[i:]
		if found {
			same = same && old[0].Value.Same(m.Value)
			old = old[1:]
		} else {
			same = false
		}
		out = append(out, m)
	}
	if same {
		return v
	}
	return fromMembers(append(out, old...))
}
