package form

import "github.com/deed-project/deed/value"

// revision builds an object from another one, member by member in the order of names. It copies nothing while all
// members so far are unchanged.
type revision struct {
	from value.Value
	kept int            // while out is nil: the number of first members of from that stay
	out  []value.Member // the members so far; nil until a member was added, changed or dropped
	room int            // the maximum capacity of out
}

// revise adds member i of r.from with the value printed. It drops the member if printed is absent.
func (r *revision) revise(i int, m value.Member, printed value.Value) {
	switch {
	case r.out == nil && printed.Same(m.Value):
		r.kept = i + 1
	case printed.IsAbsent():
		r.copy()
	default:
		r.copy()
		r.out = append(r.out, value.Member{Name: m.Name, Value: printed})
	}
}

// add adds a field that r.from does not have, unless printed is absent.
func (r *revision) add(f *field, printed value.Value) {
	if !printed.IsAbsent() {
		r.copy()
		r.out = append(r.out, value.Member{Name: f.name, Value: printed})
	}
}

// copy starts r.out with the members so far. Without an append afterwards, the next member is dropped.
func (r *revision) copy() {
	if r.out == nil {
		r.out = started(r.from, r.kept, r.room)
	}
}

// object returns the built object.
func (r *revision) object() value.Value {
	if r.out == nil {
		return r.from
	}
	return value.Object(r.out...)
}

// started returns a slice of the first kept members of v, with capacity for more.
func started(v value.Value, kept, room int) []value.Member {
	out := make([]value.Member, 0, min(room, v.Len()+2))
	for i := range kept {
		out = append(out, v.Member(i))
	}
	return out
}
