// Package slab cuts many small slices from few arrays.
package slab

import "cmp"

// Slab hands out the elements of one array after the other, so that the parts of one document cost
// a few allocations and lie close together. An array lives as long as anything cut from it: a part
// of a document keeps its neighbours alive.
//
// The zero Slab is ready. Cost: of n elements that are taken, at most n/2 more are allocated, or
// one array.
type Slab[E any] struct {
	Due  int // how many elements will be taken, by a guess
	Most int // how many elements an array has at the most; 0 means maxSize

	free []E // the rest of the newest array
	made int // how many elements all arrays have
}

const (
	minSize = 8
	maxSize = 511 // 16 kB of 32 bytes each, with the word that the allocator puts in front: what the last array may waste
)

// Take returns n zero elements that nobody else has.
func (s *Slab[E]) Take(n int) []E {
	if n > len(s.free) {
		return s.grow(n)
	}
	out := s.free[:n:n]
	s.free = s.free[n:]
	return out
}

// grow makes what Take returns. A new array covers what is due; once the guess is used up, half of
// what there is already. A container that would take much of that gets an array of its own, and the
// rest of the newest one stays in use.
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
