package fieldpath

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/deed-project/deed/internal/slab"
	"github.com/deed-project/deed/internal/work"
)

// Sets in the making. A draft has one text, to which elements are appended as they come, and nodes
// that are places in it; when all is there it is arranged, and copied to a set of exactly its size.
// Drafts are scratch: builders and parsers use theirs again.

// draft is a set that is being made: scratch, which the set is copied from.
type draft struct {
	text   []byte   // of the elements of nodes
	nodes  []node   // in preorder; the skip of a node that is open is not set yet
	untidy []uint64 // where siblings begin that are not strictly ascending, until they are arranged; with the type of value/sort.go, programs have one sort of numbers
}

// add appends a node for an element, and its text. The node is complete if nothing is added below
// it and it is a member.
func (d *draft) add(kind Kind, text string, f flags) {
	d.nodes = append(d.nodes, node{uint32(len(d.text)), uint32(len(text)), 1, bitsOf(kind, text, f)})
	start := len(d.text)
	if cap(d.text)-start < len(text) {
		d.text = slices.Grow(d.text, len(text))
	}
	d.text = d.text[:start+len(text)] // unlike append, this does not write the pointer again, which has a barrier
	copy(d.text[start:], text)
}

// addNamedField appends a node, which is named, for the field of this name in fieldsV1.
func (d *draft) addNamedField(name string) {
	d.add(KindField, name, named)
	n := &d.nodes[len(d.nodes)-1]
	n.at += uint32(len("f:"))
	n.len -= uint32(len("f:"))
	n.bits = bitsOf(KindField, name[len("f:"):], named)
}

// reserve returns the text of d with room for the place of a spelling behind it.
func (d *draft) reserve() []byte { return append(d.text, make([]byte, spellingSize)...) }

// addSpelled appends a node for a key or item. text is what reserve returned, with the element's
// text appended to it; d.text[start:end] is how the element is spelled, if it is quoted, or its
// name, if it is named.
func (d *draft) addSpelled(kind Kind, text []byte, start, end int, how flags) {
	at := len(d.text) + spellingSize
	binary.LittleEndian.PutUint32(text[at-8:], uint32(start))
	binary.LittleEndian.PutUint32(text[at-4:], uint32(end))
	d.text = text
	d.nodes = append(d.nodes, node{uint32(at), uint32(len(text) - at), 1, bitsOf(kind, string(text[at:min(at+headBytes, len(text))]), how)})
}

// addTrees appends whole trees, and their texts.
func (d *draft) addTrees(s Set) {
	start := len(d.nodes)
	d.nodes = append(d.nodes, s.nodes...)
	d.text = gather(d.text, d.nodes[start:], &s.texts)
}

// drop takes the node at index back, which is the last one.
func (d *draft) drop(index int) {
	d.text = d.text[:d.nodes[index].at]
	d.nodes = d.nodes[:index]
}

// is reports whether the node at index has this element.
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

// set arranges d and returns a copy of it as a set.
func (d *draft) set(how below) Set {
	d.arrange(how)
	work.Add(work.Counts{Elements: len(d.nodes)})
	if len(d.nodes) == 0 {
		return Set{}
	}
	return Set{textOf(string(d.text)), slices.Clone(d.nodes)}
}

// reset empties d, and frees its scratch if it is too large to keep.
func (d *draft) reset() {
	*d = draft{slab.Kept(d.text, maxScratchText), slab.Kept(d.nodes, maxScratch), slab.Kept(d.untidy, maxScratch)}
}

// How many nodes, and bytes of text, of scratch are kept for the next set.
const (
	maxScratch     = 1 << 17
	maxScratchText = 16 * maxScratch
)
