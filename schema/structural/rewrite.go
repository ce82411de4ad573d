package structural

import (
	"github.com/deed-project/deed/internal/beside"
	"github.com/deed-project/deed/value"
)

// Editing without copying. Nothing is copied while edit returns the parts unchanged. The first
// changed part causes a copy of the parts before it:
//
//	v      a b c d
//	edit   a b C d     at c, a and b are copied, and then C and d follow
//
// Invariant of both functions: they return v exactly if edit changed nothing. An unchanged object
// is therefore the Same at every level.

// rewriteMembers returns the object v with the results of edit as the values of its members. It
// drops members for which the result is absent. It returns v itself if edit returns every value
// unchanged. The argument known of edit is the member of known with the same name, or absent.
//
// Cost, beside that of edit: linear in the members of v, and at most in those of known.
func rewriteMembers(v, known value.Value, edit func(name string, member, known value.Value) value.Value) value.Value {
	var out []value.Member // the results for v's first i members, once one was edited
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

// rewriteItems returns the list v with the results of edit as its items. It returns v itself if
// edit returns every item unchanged. The argument known of edit is the item of known with the same
// index, or absent.
func rewriteItems(v, known value.Value, edit func(i int, item, known value.Value) value.Value) value.Value {
	var out []value.Value // the results for v's first i items, once one was edited
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

// withMember is v.With, except that it returns v itself if v has that member already.
func withMember(v value.Value, name string, member value.Value) value.Value {
	if v.Get(name).Same(member) {
		return v
	}
	return v.With(name, member)
}
