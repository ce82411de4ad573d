package value

import (
	"strings"

	"github.com/deed-project/deed/internal/jsontext"
)

// Names come again and again: in the items of a list, and in the next object of the same kind. What
// is remembered costs a comparison instead of an allocation, and a wrong guess costs both.

// nameTable remembers the names that a parser met lately, so that equal names of one document, and
// of documents that the parser reads one after the other, share their memory. It is a table of
// fixed size: two names that share a place are both remembered, and a third takes the place of the
// older one.
type nameTable struct {
	places [256][2]string
}

// maxName is the longest name that is remembered: longer ones are mostly data.
const maxName = 48

// get returns a name that is equal to name and shares no memory with it.
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

// spread returns the place of text, which is not empty, in a table of so many. It looks at the
// length, and at the bytes where names of one length differ: all, or the first, middle and last eight.
func spread(text string, places int) int {
	const odd = 0x9e3779b97f4a7c15 // 2^64 over the golden ratio: the high bits of a product depend on all bits of its factor
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
