package schema

// Finding the field of a name, which every walk of an object does for each of its members. Of the
// fields image, name and ports, in 8 places, as if they were hashed so:
//
//	hash    image 5   name 3   ports 3
//	places  . . . 2 3 1 . .       by number of the sorted fields + 1: image 1, name 2, ports 3
//
// ports hashes to 3, finds name there, and takes the next place that is free. A name that is not
// there is known not to be at the first free place.
//
// Invariant: at least half of the places are free, so that a search always ends.

// nameIndex finds fields by name: a hash table with open addressing, of numbers of fields + 1; 0 is
// a free place. Every walk looks every member up, so the hash looks at three bytes only. Names of
// fields differ in those and in their length as a rule.
type nameIndex struct {
	places []uint16 // as many as a power of two, and at most half of them taken
}

// maxFields is how many fields a nameIndex can number.
const maxFields = 1<<16 - 2

// newNameIndex returns the index of fields, in which each name is once; an empty one of none, or of
// more than it can number.
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

// find returns the number of the field called name, or -1. fields are those that the index was made
// of.
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

// findInOrder is find for maps that have more fields than an index can number, or none.
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

// hashName looks at the length of name and at its first, middle and last byte. Names that have
// these in common share a place; the search goes on behind it then, so they cost time and nothing
// else.
func hashName(name string) uint32 {
	n := uint32(len(name))
	if n == 0 {
		return 0
	}
	h := n*0x9e3779b1 ^ uint32(name[0])*0x85ebca6b ^ uint32(name[n/2])*0xc2b2ae35 ^ uint32(name[n-1])*0x27d4eb2f
	return h ^ h>>15
}
