// Package slab cuts many small slices from few arrays.
package slab

import "cmp"

// Slab returns the elements of one array after the other, so that the parts of a document cost a few allocations and lie close
// together. An array lives as long as any slice of it: a part of a document keeps its neighbours alive.
//
// The zero Slab is ready. Cost: for n taken elements, it allocates at most n/2 more, or one array.
type Slab[E any] struct {
	Due  int // estimate of the elements to take
	Most int // limit of the elements of an array; 0 means maxSize

	free []E // the rest of the newest array
	made int // number of elements of all arrays
}

const (
	minSize = 8
	maxSize = 511 // elements of 32 bytes in 16 kB, with the allocator's header: the waste of the last array is at most this
)

// Take returns n zero elements that no other caller has.
func (s *Slab[E]) Take(n int) []E {
	if n > len(s.free) {
		return s.grow(n)
	}
	out := s.free[:n:n]
	s.free = s.free[n:]
	return out
}

// grow returns new elements for Take. A new array covers the elements that are due. After that, it has half as many elements as
// already exist. Then a request for more than half of the new array gets its own array, and the rest of the newest array stays
// in use.
func (s *Slab[E]) grow(n int) []E {
	size := min(max(s.Due-s.made, s.made/2, minSize), cmp.Or(s.Most, maxSize))
	if n > size/2 && s.Due <= s.made || n > size {
		s.made += n
		return make([]E, n)
	}
	s.made += size
	array := make([]E, size)
	s.free = array[n:]
	return array[:n:n]
}
