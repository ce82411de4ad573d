package value

import (
	"strings"

	"github.com/deed-project/deed/internal/jsontext"
)

// Names repeat in the items of a list, and in the next object of the same kind. A cached name costs
// a comparison instead of an allocation. A name that is not cached costs both.

// nameTable caches the names that a parser read recently. Equal names of one document, and of
// consecutive documents of the parser, then share memory. The table has a fixed size. Each place
// holds two names, and a third name replaces the older one.
type nameTable struct {
	places [256][2]string
}

// maxName is the length of the longest cached name. Longer names are mostly data.
const maxName = 48

// get returns a string that is equal to name and shares no memory with it.
func (t *nameTable) get(name string) string {
	if len(name) == 0 || len(name) > maxName {
		return strings.Clone(name)
	}
	place := &t.places[spread(name, len(t.places))]
	switch name {
	case place[0]:
		return place[0]
	case place[1]:
		return place[1]
	}
	place[0], place[1] = strings.Clone(name), place[0]
	return place[0]
}

// spread returns the place of text, which is not empty, in a table with that number of places. It
// hashes the length and the bytes: all of them, or the first, middle and last eight.
func spread(text string, places int) int {
	const odd = 0x9e3779b97f4a7c15 // 2^64 over the golden ratio: the high bits of h*odd depend on all of h
	n := len(text)
	h := uint64(n)
	if n < 8 {
		for i := range n {
			h = h<<8 | uint64(text[i])
		}
	} else {
		h = (h ^ jsontext.Word(text, 0)) * odd
		h = (h ^ jsontext.Word(text, n/2-4)) * odd
		h ^= jsontext.Word(text, n-8)
	}
	return int((h * odd >> 32) * uint64(places) >> 32)
}
