package value

import "strings"

// Names come again and again: in the items of a list, and in the next object of the same kind. What
// is remembered costs a comparison instead of an allocation, and a wrong guess costs both.

// nameTable remembers the names that a parser met lately, so that equal names of one document, and
// of documents that the parser reads one after the other, share their memory. It is a table of
// fixed size: a name has one place and takes it from the name that was there.
type nameTable struct {
	places [512]string
}

// maxName is the longest name that is remembered: longer ones are mostly data.
const maxName = 48

// get returns a name that is equal to name and shares no memory with it.
func (t *nameTable) get(name string) string {
	if len(name) == 0 || len(name) > maxName {
		return strings.Clone(name)
	}
	place := &t.places[spread(name)%uint32(len(t.places))]
	if *place != name {
		*place = strings.Clone(name)
	}
	return *place
}

// spread returns a number that places text, which is not empty, in a table.
func spread(text string) uint32 {
	n := len(text)
	h := uint32(n)
	for i := 0; i < n; i += 1 + n/8 {
		h = h*31 + uint32(text[i])
	}
	h = h*31 + uint32(text[n-1])
	return h ^ h>>9
}
