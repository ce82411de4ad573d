package fieldpath

import (
	"iter"
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// PathElementSet is a set of elements. The zero PathElementSet is empty.
type PathElementSet struct {
	members []PathElement // sorted; nil if of is not nil
	of      *shared       // if not nil, it has the members
}

// MakePathElementSet returns an empty set with room for size elements.
func MakePathElementSet(size int) PathElementSet {
	return PathElementSet{members: make([]PathElement, 0, size)}
}

// elements returns the members in order. The slice must not be modified.
func (s *PathElementSet) elements() []PathElement {
	if s.of != nil {
		return s.of.expand().members
	}
	return s.members
}

// Copy returns a copy of s.
func (s PathElementSet) Copy() PathElementSet {
	if s.of != nil {
		return s
	}
	out := make([]PathElement, len(s.members))
	for i, e := range s.members {
		out[i] = e.Copy()
	}
	return PathElementSet{members: out}
}

// Insert adds pe.
func (s *PathElementSet) Insert(pe PathElement) {
	if s.of != nil {
		*s = PathElementSet{members: slices.Clone(s.elements())}
	}
	if i, found := slices.BinarySearchFunc(s.members, pe, PathElement.Compare); !found {
		s.members = slices.Insert(s.members, i, pe)
	}
}

// zipElements calls f with each element of two sorted slices, and tells f which slices have it. If both have it, f gets left's
// element.
func zipElements(left, right []PathElement, f func(e PathElement, inLeft, inRight bool)) {
	for len(left) > 0 || len(right) > 0 {
		switch c := compareHeads(left, right, func(e PathElement) PathElement { return e }); {
		case c < 0:
			f(left[0], true, false)
			left = left[1:]
		case c > 0:
			f(right[0], false, true)
			right = right[1:]
		default:
			f(left[0], true, true)
			left, right = left[1:], right[1:]
		}
	}
}

// compareHeads compares the elements of left[0] and right[0]. An empty slice comes last. At most one slice may be empty.
func compareHeads[T any](left, right []T, element func(T) PathElement) int {
	switch {
	case len(left) == 0:
		return 1
	case len(right) == 0:
		return -1
	}
	return element(left[0]).Compare(element(right[0]))
}

// chosen returns the set of the elements of s and s2 for which keep returns true.
func (s *PathElementSet) chosen(s2 *PathElementSet, keep func(inLeft, inRight bool) bool) *PathElementSet {
	out := &PathElementSet{}
	zipElements(s.elements(), s2.elements(), func(e PathElement, inLeft, inRight bool) {
		if keep(inLeft, inRight) {
			out.members = append(out.members, e)
		}
	})
	return out
}

func inEither(bool, bool) bool             { return true }
func inBoth(inLeft, inRight bool) bool     { return inLeft && inRight }
func inLeftOnly(inLeft, inRight bool) bool { return inLeft && !inRight }

// Union returns the elements that s or s2 has.
func (s *PathElementSet) Union(s2 *PathElementSet) *PathElementSet { return s.chosen(s2, inEither) }

// Intersection returns the elements that both s and s2 have.
func (s *PathElementSet) Intersection(s2 *PathElementSet) *PathElementSet {
	return s.chosen(s2, inBoth)
}

// Difference returns the elements of s that s2 does not have.
func (s *PathElementSet) Difference(s2 *PathElementSet) *PathElementSet {
	return s.chosen(s2, inLeftOnly)
}

// Size returns the number of elements.
func (s *PathElementSet) Size() int { return len(s.elements()) }

// Has reports whether pe is an element of s.
func (s *PathElementSet) Has(pe PathElement) bool {
	_, found := slices.BinarySearchFunc(s.elements(), pe, PathElement.Compare)
	return found
}

// Equals reports whether s and s2 have the same elements.
func (s *PathElementSet) Equals(s2 *PathElementSet) bool {
	return slices.EqualFunc(s.elements(), s2.elements(), PathElement.Equals)
}

// Iterate calls f with each element in order.
func (s *PathElementSet) Iterate(f func(PathElement)) {
	for _, e := range s.elements() {
		f(e)
	}
}

// All yields the elements in order.
func (s *PathElementSet) All() iter.Seq[PathElement] { return slices.Values(s.elements()) }

// PathElementMap maps elements to values of any type. The zero PathElementMap is empty.
type PathElementMap struct{ entries []mapEntry }

type mapEntry struct {
	element PathElement
	value   interface{}
}

// MakePathElementMap returns an empty map with room for size elements.
func MakePathElementMap(size int) PathElementMap {
	return PathElementMap{entries: make([]mapEntry, 0, size)}
}

func (s *PathElementMap) search(pe PathElement) (int, bool) {
	return slices.BinarySearchFunc(s.entries, pe, func(e mapEntry, pe PathElement) int { return e.element.Compare(pe) })
}

// Insert maps pe to v.
func (s *PathElementMap) Insert(pe PathElement, v interface{}) {
	i, found := s.search(pe)
	if !found {
		s.entries = slices.Insert(s.entries, i, mapEntry{element: pe})
	}
	s.entries[i].value = v
}

// Get returns the value of pe, and whether there is one.
func (s *PathElementMap) Get(pe PathElement) (interface{}, bool) {
	if i, found := s.search(pe); found {
		return s.entries[i].value, true
	}
	return nil, false
}

// PathElementValueMap maps elements to values. The zero PathElementValueMap is empty.
type PathElementValueMap struct{ values PathElementMap }

// MakePathElementValueMap returns an empty map with room for size elements.
func MakePathElementValueMap(size int) PathElementValueMap {
	return PathElementValueMap{MakePathElementMap(size)}
}

// Insert maps pe to v.
func (s *PathElementValueMap) Insert(pe PathElement, v value.Value) { s.values.Insert(pe, v) }

// Get returns the value of pe, and whether there is one.
func (s *PathElementValueMap) Get(pe PathElement) (value.Value, bool) {
	v, ok := s.values.Get(pe)
	if !ok {
		return nil, false
	}
	return v.(value.Value), true
}
