package form

import "github.com/deed-project/deed/value"

// revision is an object that is made of another one, member by member in the order of their names. While all
// members seen so far stay as they are, nothing is copied.
type revision struct {
	from value.Value
	kept int            // members of from that stay, if out is nil: the first ones
	out  []value.Member // once a member was added, changed or dropped: all that are in so far
	room int            // for how many members out is made at most
}

// revise takes in member i of r.from, with printed in place of its value; it is dropped if that is absent.
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

// add takes in a field that r.from does not have, unless printed is absent.
func (r *revision) add(f *field, printed value.Value) {
	if !printed.IsAbsent() {
		r.copy()
		r.out = append(r.out, value.Member{Name: f.name, Value: printed})
	}
}

// copy begins r.out with the members that stayed so far. By itself it leaves out the member that is next.
func (r *revision) copy() {
	if r.out == nil {
		r.out = started(r.from, r.kept, r.room)
	}
}

// object returns the outcome.
func (r *revision) object() value.Value {
	if r.out == nil {
		return r.from
	}
	return value.Object(r.out...)
}

// started returns the first members of v, with room for more.
func started(v value.Value, kept, room int) []value.Member {
	out := make([]value.Member, 0, min(room, v.Len()+2))
	for i := range kept {
		out = append(out, v.Member(i))
	}
	return out
}
