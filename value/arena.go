package value

import "cmp"

// arena cuts the members and items of new containers from arrays of many, so that one document costs a few allocations
// and lies close together. An array lives as long as anything cut from it: a part of a document keeps its neighbours alive.
type arena struct {
	members slab[Member]
	items   slab[Value]
	bytes   slab[byte]
}

// object copies members, which are sorted, into the arena.
func (a *arena) object(members []Member) Value {
	out := a.members.take(len(members))
	copy(out, members)
	return fromMembers(out)
}

// list copies items into the arena.
func (a *arena) list(items []Value) Value {
	out := a.items.take(len(items))
	copy(out, items)
	return fromItems(out)
}

// string copies s into the arena.
func (a *arena) string(s string) string {
	if len(s) == 0 {
		return ""
	}
	out := a.bytes.take(len(s))
	copy(out, s)
	return textOf(out)
}

// slab hands out the elements of one array after the other.
type slab[E any] struct {
	free []E // the rest of the newest array
	made int // how many elements all arrays have
	due  int // how many elements the document needs by a guess
	most int // how many elements an array has at the most; 0 means maxSlab
}

const (
	minSlab = 8
	maxSlab = 511 // 16 kB of members with the word that the allocator puts in front: what the end of the last array may waste
)

// take returns n zero elements that nobody else has.
func (s *slab[E]) take(n int) []E {
	if n > len(s.free) {
		return s.grow(n)
	}
	out := s.free[:n:n]
	s.free = s.free[n:]
	return out
}

// grow makes what take returns. A new array covers what is due; once the guess is used up, half of what there is already.
// A container that would take much of that gets an array of its own, and the rest of the newest one stays in use.
func (s *slab[E]) grow(n int) []E {
	size := min(max(s.due-s.made, s.made/2, minSlab), cmp.Or(s.most, maxSlab))
	if n > size/2 && s.due <= s.made || n > size {
		s.made += n
		return make([]E, n)
	}
	s.made += size
	array := make([]E, size)
	s.free = array[n:]
	return array[:n:n]
}
