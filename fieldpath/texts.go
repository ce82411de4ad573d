package fieldpath

import "slices"

// texts are what the texts of elements are parts of. A set that is made of two has the texts of both, so that none needs to
// be copied, as long as there is room; those that it does not have are empty. They are immutable and shared by sets.
type texts [4]string

// A node finds its text by the number of one of the texts in the high bits, and where it begins there in the others.
const (
	textBits = 30
	maxText  = 1<<textBits - 1 // the longest text
)

// count returns how many texts there are.
func (t *texts) count() int {
	n := 0
	for n < len(t) && t[n] != "" {
		n++
	}
	return n
}

// textsOf returns texts that begin with text. It panics if that is longer than maxText.
func textsOf(text string) *texts {
	if len(text) > maxText {
		panic("fieldpath: the elements of a set are longer than 1 GiB")
	}
	return &texts{text}
}

// compact returns s with one text, which has what its nodes use and no more.
func (s Set) compact() Set {
	nodes := slices.Clone(s.nodes)
	return setOf(textsOf(string(gather(nil, nodes, s.texts))), nodes)
}

// gather appends to text what nodes use of old, and makes them use it there.
func gather(text []byte, nodes []node, old *texts) []byte {
	for i := range nodes {
		n := &nodes[i]
		name := n.in(old)
		n.at = uint32(len(text))
		n.flags &= included
		text = append(text, name...)
	}
	return text
}
