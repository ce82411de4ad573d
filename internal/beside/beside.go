// Package beside finds what another value has in the place where a walk is. Of two states of an
// object, most members of the one are members of the other as well, and both stand in the order of
// names: so a walk of the one goes through the other in step.
//
//	walked  {"a":1,     "c":1,"d":1}
//	beside  {"a":2,"b":2,     "d":2}
//	Get      a          c     d         finds 2, nothing and 2
package beside

import (
	"sort"

	"github.com/deed-project/deed/value"
)

// Members are the members of an object, which are asked for in the order of names. The zero Members
// are none.
//
// Invariant: every name that was asked for is less than those of the members from next on.
type Members struct {
	of   value.Value
	next int
	size int
}

// Of returns the members of v, none if it is no object.
func Of(v value.Value) Members {
	if v.Kind() != value.KindObject {
		return Members{}
	}
	return Members{of: v, size: v.Len()}
}

// Get returns the value of the member called name, absent if there is none. It must be greater than
// the names of earlier calls.
//
// Cost: constant where the next member is the one, and else logarithmic in how many are passed. So
// all calls together cost no more than the members on both sides.
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

// pass goes to the first member whose name is not less than name, which the next one's is: in steps
// that double, and then back.
func (m *Members) pass(name string) {
	far := 1
	for m.next+far < m.size && m.of.Member(m.next+far).Name < name {
		m.next += far
		far *= 2
	}
	m.next += 1 + sort.Search(min(far, m.size-m.next)-1, func(i int) bool { return m.of.Member(m.next+1+i).Name >= name })
}

// Item returns item i of v, absent if v has none, or is no list.
func Item(v value.Value, i int) value.Value {
	if v.Kind() != value.KindList || i >= v.Len() {
		return value.Value{}
	}
	return v.Item(i)
}
