package fieldpath

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/deed-project/deed/internal/work"
)

// draft is a set that is being made: scratch, which the set is copied from.
type draft struct {
	text  []byte // of the elements of nodes
	nodes []node // in preorder; the skip of a node that is open is not set yet
}

// add appends a node for an element, and its text. The node is complete if nothing is added below it and it is a member.
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

// addSpelled appends a node for a key or item. Its text is what text, which reserve returned, was extended by, and
// d.text[start:end] is how it is spelled, if it is quoted, or its name, if it is named.
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

// set returns a copy of d as a set.
func (d *draft) set() Set {
	work.Add(work.Counts{Elements: len(d.nodes)})
	if len(d.nodes) == 0 {
		return Set{}
	}
	return Set{textOf(string(d.text)), slices.Clone(d.nodes)}
}

// reset empties d, and frees its scratch if it is too large to keep.
func (d *draft) reset() {
	if cap(d.nodes) > maxScratch || cap(d.text) > maxScratchText {
		*d = draft{}
	}
	d.text, d.nodes = d.text[:0], d.nodes[:0]
}

// How many nodes, and bytes of text, of scratch are kept for the next set.
const (
	maxScratch     = 1 << 17
	maxScratchText = 16 * maxScratch
)

// sortSiblings puts the sibling trees from the node at start to the last one into order and makes one of those that are
// equal: a member if one of them is. Below it is what below makes of their children, siblings too.
func (d *draft) sortSiblings(start int, below func(d *draft, children [][]node) []node) {
	d.nodes = append(d.nodes[:start], d.sorted(slices.Clone(d.nodes[start:]), below)...)
}

func (d *draft) sorted(siblings []node, below func(d *draft, children [][]node) []node) []node {
	var buf [16][]node
	trees := buf[:0]
	for rest := siblings; len(rest) > 0; rest = rest[rest[0].skip:] {
		trees = append(trees, rest[:rest[0].skip])
	}
	slices.SortStableFunc(trees, func(a, b []node) int { return d.compare(&a[0], &b[0]) })
	out := make([]node, 0, len(siblings))
	for i := 0; i < len(trees); {
		root, first := len(out), i
		out = append(out, trees[i][0])
		trees[i] = trees[i][1:]
		for i++; i < len(trees) && d.compare(&trees[i][0], &out[root]) == 0; i++ {
			out[root].bits |= trees[i][0].bits & uint32(included)
			trees[i] = trees[i][1:]
		}
		if i == first+1 {
			out = append(out, trees[first]...)
		} else {
			out = append(out, below(d, trees[first:i])...)
		}
		out[root].skip = uint32(len(out) - root)
	}
	return out
}

// unite and replace say what is below an element that comes again among siblings: all that is below any of them, or what is
// below the last that has anything below it.
func unite(d *draft, children [][]node) []node { return d.sorted(slices.Concat(children...), unite) }

func replace(_ *draft, children [][]node) []node {
	for _, c := range slices.Backward(children) {
		if len(c) > 0 {
			return c
		}
	}
	return nil
}
