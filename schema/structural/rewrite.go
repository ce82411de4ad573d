package structural

import (
	"github.com/deed-project/deed/internal/beside"
	"github.com/deed-project/deed/value"
)

// Editing without copying. As long as every part comes back as it was, nothing is stored; the first that
// does not takes those in front of it along:
//
//	v      a b c d
//	edit   a b C d     at c, a and b are copied, and then C and d follow
//
// Invariant of both functions: v is returned exactly if no edit changed anything, so that an object of
// which nothing had to change is the Same all the way up.

// rewriteMembers returns the object v with what edit returns for each member in place of its value,
// and without the members for which that is absent. It is v itself if edit returns every value as
// it was. edit is told what known has in the place of the member, absent for nothing.
//
// Beside what edit costs, the cost grows with the members of v, and no more than with those of known.
func rewriteMembers(v, known value.Value, edit func(name string, member, known value.Value) value.Value) value.Value {
	var out []value.Member // of v's first i members, once one of them was edited
	copied := false
	others := beside.Of(known)
	for i := range v.Len() {
		m := v.Member(i)
		edited := edit(m.Name, m.Value, others.Get(m.Name))
		if !copied {
			if edited.Same(m.Value) {
				continue
			}
			out, copied = make([]value.Member, 0, v.Len()), true
			for j := range i {
				out = append(out, v.Member(j))
			}
		}
		if !edited.IsAbsent() {
			out = append(out, value.Member{Name: m.Name, Value: edited})
		}
	}
	if !copied {
		return v
	}
	return value.Object(out...)
}

// rewriteItems returns the list v with what edit returns for each item in its place. It is v itself
// if edit returns every item as it was. edit is told what known has in the place of the item.
func rewriteItems(v, known value.Value, edit func(i int, item, known value.Value) value.Value) value.Value {
	var out []value.Value // of v's first i items, once one of them was edited
	for i := range v.Len() {
		item := v.Item(i)
		edited := edit(i, item, beside.Item(known, i))
		if out == nil {
			if edited.Same(item) {
				continue
			}
			out = make([]value.Value, 0, v.Len())
			for j := range i {
				out = append(out, v.Item(j))
			}
		}
		out = append(out, edited)
	}
	if out == nil {
		return v
	}
	return value.List(out...)
}

// withMember is v.With, except that it returns v itself when the member is there already.
func withMember(v value.Value, name string, member value.Value) value.Value {
	if v.Get(name).Same(member) {
		return v
	}
	return v.With(name, member)
}
