package fieldpath

import "slices"

// The nodes of a set do not hold the texts of their elements. These are parts of the texts of the
// set. A parsed set keeps a copy of the text that was read, and its nodes refer to places there.
// The union of two sets has the texts of both:
//
//	a             texts  0: "…ports…"
//	b             texts  0: "…image…"
//	a.Union(b)    texts  0: "…ports…"  1: "…image…"     nodes of b refer to text 1
//
// If there would be more than maxTexts, compact first copies the parts in use of each set to one
// text.

// texts holds the texts that have the texts of elements as parts. A set that is made of two has the
// texts of both while there is room, so that none is copied. texts is immutable. If two of them are
// ==, they have the same content.
type texts struct {
	first string
	more  *moreTexts // nil if first is the only text
}

// moreTexts holds the texts after the first.
type moreTexts struct {
	n    int
	text [maxTexts - 1]string
}

const maxTexts = 4

// The high bits of node.at are the number of a text. The low bits are the place in that text where
// the text of the element begins.
const (
	textBits = 30
	maxText  = 1<<textBits - 1 // the longest text
)

// textOf returns texts with this text alone. It panics if the text is longer than maxText.
func textOf(text string) texts {
	if len(text) > maxText {
		panic("fieldpath: the elements of a set are longer than 1 GiB")
	}
	return texts{first: text}
}

// at returns the text with this number.
func (t *texts) at(number uint32) string {
	if number == 0 {
		return t.first
	}
	return t.more.text[number-1]
}

// count returns the number of texts.
func (t *texts) count() int {
	if t.more == nil {
		return 1
	}
	return 1 + t.more.n
}

// join returns the texts of t, followed by those of other. There must be room for them.
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

// size returns how many bytes of memory s keeps alive. Sets share memory, so s may need less.
func (s Set) size() int {
	size := nodeSize * cap(s.nodes)
	for number := range s.texts.count() {
		size += len(s.texts.at(uint32(number)))
	}
	return size
}

// compact returns s with one text that has only the bytes that its nodes use.
func (s Set) compact() Set {
	nodes := slices.Clone(s.nodes)
	return setOf(textOf(string(gather(nil, nodes, &s.texts))), nodes)
}

// gather appends the parts of old that nodes use to text, and makes the nodes refer to them there.
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
