package schema

// Lookup of a field by name. Every walk of an object does it for each member. An example with the
// fields image, name and ports, an index of 8 places, and these hashes:
//
//	hash    image 5   name 3   ports 3
//	places  . . . 2 3 1 . .       number of the sorted field + 1: image 1, name 2, ports 3
//
// The hash of ports is 3. Place 3 has name, so that ports takes the next free place. A search for a
// missing name ends at the first free place.
//
// Invariant: at least half of the places are free, so that a search always ends.

// nameIndex finds fields by name. It is a hash table with open addressing. A place holds the number
// of a field + 1, or 0 if it is free. Every walk looks every member up, so that the hash must be
// fast: it reads three bytes and the length. Field names mostly differ in those.
type nameIndex struct {
	places []uint16 // the length is a power of two; at most half are taken
}

// maxFields is the maximum number of fields in a nameIndex.
const maxFields = 1<<16 - 2

// newNameIndex returns the index of fields, whose names are unique. The index is empty if there are
// no fields, or more than maxFields.
func newNameIndex(fields []Field) nameIndex {
	if len(fields) == 0 || len(fields) > maxFields {
		return nameIndex{}
	}
	size := 4
	for size < 2*len(fields) {
		size *= 2
	}
	x := nameIndex{places: make([]uint16, size)}
	for i, f := range fields {
		place := hashName(f.Name) & uint32(size-1)
		for x.places[place] != 0 {
			place = (place + 1) & uint32(size-1)
		}
		x.places[place] = uint16(i + 1)
	}
	return x
}

// find returns the number of the field called name, or -1. fields must be those of newNameIndex.
func (x nameIndex) find(fields []Field, name string) int {
	if len(x.places) == 0 {
		return findInOrder(fields, name)
	}
	mask := uint32(len(x.places) - 1)
	for place := hashName(name) & mask; ; place = (place + 1) & mask {
		i := int(x.places[place]) - 1
		if i < 0 || fields[i].Name == name {
			return i
		}
	}
}

// findInOrder is find for an empty index. It does a binary search.
func findInOrder(fields []Field, name string) int {
	lo, hi := 0, len(fields)
	for lo < hi {
		if mid := (lo + hi) / 2; fields[mid].Name < name {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(fields) && fields[lo].Name == name {
		return lo
	}
	return -1
}

// hashName hashes the length of name and its first, middle and last byte. Names with equal hashes
// cost only time: find continues at the next place.
func hashName(name string) uint32 {
	n := uint32(len(name))
	if n == 0 {
		return 0
	}
	h := n*0x9e3779b1 ^ uint32(name[0])*0x85ebca6b ^ uint32(name[n/2])*0xc2b2ae35 ^ uint32(name[n-1])*0x27d4eb2f
	return h ^ h>>15
}
