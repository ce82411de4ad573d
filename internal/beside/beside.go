// Package beside looks up members of an object in step with a walk of another object. Two states of an object have most members
// in common, and both order them by name.
//
//	walked  {"a":1,     "c":1,"d":1}
//	beside  {"a":2,"b":2,     "d":2}
//	Get      a          c     d         finds 2, nothing and 2
package beside

import (
	"sort"

	"github.com/deed-project/deed/value"
)

// Members looks up members of an object. Names must be requested in increasing order. The zero Members is empty and ready.
//
// Invariant: every requested name is less than the names of the members from next on.
type Members struct {
	of   value.Value
	next int
	size int
}

// Of returns the members of v. They are empty if v is not an object.
func Of(v value.Value) Members {
	if v.Kind() != value.KindObject {
		return Members{}
	}
	return Members{of: v, size: v.Len()}
}

// Get returns the value of the member called name, or an absent value. The name must be greater than the names of earlier calls.
//
// Cost: constant if the next member matches, and otherwise logarithmic in the number of skipped members. All calls together are
// linear in the members of both sides.
func (m *Members) Get(name string) value.Value {
	if m.next == m.size {
		return value.Value{}
	}
	return m.find(name)
}

func (m *Members) find(name string) value.Value {
	if m.of.Member(m.next).Name < name {
		m.pass(name)
	}
	if m.next == m.size || m.of.Member(m.next).Name != name {
		return value.Value{}
	}
	m.next++
	return m.of.Member(m.next - 1).Value
}

// pass advances to the first member whose name is not less than name. The next member's name is less. It searches in doubling
// steps, and then by halves.
func (m *Members) pass(name string) {
	far := 1
	for m.next+far < m.size && m.of.Member(m.next+far).Name < name {
		m.next += far
		far *= 2
	}
	m.next += 1 + sort.Search(min(far, m.size-m.next)-1, func(i int) bool { return m.of.Member(m.next+1+i).Name >= name })
}

// Item returns item i of v. The result is absent if v has no such item, or is not a list.
func Item(v value.Value, i int) value.Value {
	if v.Kind() != value.KindList || i >= v.Len() {
		return value.Value{}
	}
	return v.Item(i)
}
