package fieldpath

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/deed-project/deed/internal/slab"
	"github.com/deed-project/deed/internal/work"
)

// A draft is a set in the making. It has one text, to which the texts of elements are appended, and
// nodes that refer to that text. At the end the draft is arranged, and copied to a set of exactly
// its size. Builders and parsers use their drafts again.

// draft is scratch memory in which a set is made, before the set is copied from it.
type draft struct {
	text   []byte   // the texts of the elements
	nodes  []node   // in preorder; the skip of an open node is not set yet
	untidy []uint64 // where siblings begin that are not strictly ascending; uint64 as in value/sort.go, so that programs have one sort of numbers
}

// add appends a node for an element, and the text of the element. The node is complete if it is a
// member and no nodes are added below it.
func (d *draft) add(kind Kind, text string, f flags) {
	d.nodes = append(d.nodes, node{uint32(len(d.text)), uint32(len(text)), 1, bitsOf(kind, text, f)})
	start := len(d.text)
	if cap(d.text)-start < len(text) {
		d.text = slices.Grow(d.text, len(text))
	}
	d.text = d.text[:start+len(text)] // unlike append, this does not write the pointer again, which needs a write barrier
	copy(d.text[start:], text)
}

// addNamedField appends a named node for a field. name is its name in fieldsV1, such as f:spec.
func (d *draft) addNamedField(name string) {
	d.add(KindField, name, named)
	n := &d.nodes[len(d.nodes)-1]
	n.at += uint32(len("f:"))
	n.len -= uint32(len("f:"))
	n.bits = bitsOf(KindField, name[len("f:"):], named)
}

// reserve returns the text of d with room for the place of a spelling at the end.
func (d *draft) reserve() []byte { return append(d.text, make([]byte, spellingSize)...) }

// addSpelled appends a node for a key or item. text is the result of reserve with the element's
// text appended. d.text[start:end] is the spelling of the element if how is quoted, and its name if
// how is named.
func (d *draft) addSpelled(kind Kind, text []byte, start, end int, how flags) {
	at := len(d.text) + spellingSize
	binary.LittleEndian.PutUint32(text[at-8:], uint32(start))
	binary.LittleEndian.PutUint32(text[at-4:], uint32(end))
	d.text = text
	d.nodes = append(d.nodes, node{uint32(at), uint32(len(text) - at), 1, bitsOf(kind, string(text[at:min(at+headBytes, len(text))]), how)})
}

// addTrees appends the trees of s, and the texts of their elements.
func (d *draft) addTrees(s Set) {
	start := len(d.nodes)
	d.nodes = append(d.nodes, s.nodes...)
	d.text = gather(d.text, d.nodes[start:], &s.texts)
}

// drop removes the node at index, which must be the last one.
func (d *draft) drop(index int) {
	d.text = d.text[:d.nodes[index].at]
	d.nodes = d.nodes[:index]
}

// is reports whether the node at index has the element e.
func (d *draft) is(index int, e Element) bool {
	n := &d.nodes[index]
	return n.kind() == e.kind && string(d.text[n.at:n.at+n.len]) == e.text
}

// ascend reports whether the node at index i sorts before the one at index j.
func (d *draft) ascend(i, j int) bool {
	a, b := &d.nodes[i], &d.nodes[j]
	return a.order() < b.order() || d.compare(a, b) < 0
}

// compare orders two nodes by their elements.
func (d *draft) compare(a, b *node) int {
	if o, p := a.order(), b.order(); o != p {
		return int(o) - int(p)
	}
	return bytes.Compare(d.text[a.at:a.at+a.len], d.text[b.at:b.at+b.len])
}

// set arranges d and returns a copy of it as a set, without the members of except.
func (d *draft) set(how below, except Set) Set {
	d.arrange(how)
	work.Add(work.Counts{Elements: len(d.nodes)})
	if len(d.nodes) == 0 {
		return Set{}
	}
	scratch := Set{textOf(string(d.text)), d.nodes}
	if left := scratch.Minus(except); !left.same(scratch) {
		return left
	}
	return Set{scratch.texts, slices.Clone(d.nodes)}
}

// reset empties d. It frees scratch memory that is too large to keep.
func (d *draft) reset() {
	*d = draft{slab.Kept(d.text, maxScratchText), slab.Kept(d.nodes, maxScratch), slab.Kept(d.untidy, maxScratch)}
}

// The largest scratch memory that is kept for the next set, in nodes and in bytes of text.
const (
	maxScratch     = 1 << 17
	maxScratchText = 16 * maxScratch
)
