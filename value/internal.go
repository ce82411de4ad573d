package value

import "github.com/deed-project/deed/internal/door"

// Internal gives the other packages of this module access to functions outside the API. No other
// module can open it: see docs/decisions/0025.
type Internal = door.Door[internal]

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

// SetKnown makes Parse ask known for each value that stays text, see [Decoder.Text]: it returns an equal
// string that is in memory already, or "". It must not keep the text.
func (internal) SetKnown(d *Decoder, known func(text string) string) { d.known = known }

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

// LongerThan reports whether the JSON text of v has more than so many bytes, about. It does not look at
// more of v than that takes, however often v has the same part.
func (internal) LongerThan(v Value, most int) bool { return v.room(most) < 0 }

// WithAll returns v, an object, with each member of other, which is one too, set as by With. Its cost
// grows with the number of members of both. Anything else than an object counts as the empty object.
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
