package fieldpath

import "slices"

// What the elements of a set say lies in texts, not in the nodes: a set that was parsed keeps the
// text that it was parsed from, and its nodes are places there. The union of two sets has the texts
// of both:
//
//	a             texts  0: "…ports…"
//	b             texts  0: "…image…"
//	a.Union(b)    texts  0: "…ports…"  1: "…image…"     nodes of b say text 1 now
//
// Only when there would be more than maxTexts are the texts that are in use copied to one, by
// compact.

// texts are what the texts of elements are parts of. A set that is made of two has the texts of
// both, so that none needs to be copied, as long as there is room. They are immutable, equal if
// they are the same texts.
type texts struct {
	first string
	more  *moreTexts // nil if there is one
}

// moreTexts are the texts behind the first.
type moreTexts struct {
	n    int
	text [maxTexts - 1]string
}

const maxTexts = 4

// A node finds its text by the number of one of the texts in the high bits, and where it begins
// there in the others.
const (
	textBits = 30
	maxText  = 1<<textBits - 1 // the longest text
)

// textOf returns texts of one. It panics if that is longer than maxText.
func textOf(text string) texts {
	if len(text) > maxText {
		panic("fieldpath: the elements of a set are longer than 1 GiB")
	}
	return texts{first: text}
}

// at returns the text with a number.
func (t *texts) at(number uint32) string {
	if number == 0 {
		return t.first
	}
	return t.more.text[number-1]
}

// count returns how many texts there are.
func (t *texts) count() int {
	if t.more == nil {
		return 1
	}
	return 1 + t.more.n
}

// join returns the texts of t and, behind them, those of other. There must be room.
func (t *texts) join(other *texts) texts {
	var more moreTexts
	if t.more != nil {
		more = *t.more
	}
	more.text[more.n] = other.first
	if other.more != nil {
		copy(more.text[more.n+1:], other.more.text[:other.more.n])
	}
	more.n += other.count()
	return texts{t.first, &more}
}

// size returns how many bytes of memory s keeps alive, which may be more than it needs, as sets
// share what they are made of.
func (s Set) size() int {
	size := nodeSize * cap(s.nodes)
	for number := range s.texts.count() {
		size += len(s.texts.at(uint32(number)))
	}
	return size
}

// compact returns s with one text, which has what its nodes use and no more.
func (s Set) compact() Set {
	nodes := slices.Clone(s.nodes)
	return setOf(textOf(string(gather(nil, nodes, &s.texts))), nodes)
}

// gather appends to text what nodes use of old, and makes them use it there.
func gather(text []byte, nodes []node, old *texts) []byte {
	for i := range nodes {
		n := &nodes[i]
		name := n.in(old)
		n.at = uint32(len(text))
		n.unset(quoted | lone | named)
		text = append(text, name...)
	}
	return text
}
