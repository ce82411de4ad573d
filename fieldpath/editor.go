package fieldpath

import (
	"slices"
	"sync"

	"github.com/deed-project/deed/internal/slab"
)

// editor makes a set out of another one, base, which is walked once, from the first node to the last. The walk
// keeps or drops whole trees, or opens one and decides what is below its root. In between, it takes trees of
// a further set. To drop c and take x:
//
//	base    a b{c d} e
//	                         out
//	keep a, open b
//	drop c                   a b          the first change: what is in front of it is written
//	keep d, close b          a b{d}
//	take x, keep e           a b{d} x e
//
// The result is written to scratch and then copied. A result that equals base is base itself, and nothing is written.
//
// Invariants, i being the node that the walk is at:
//
//	!changed: the result so far is base[:i], and out is empty.
//	changed:  the result so far is out, in preorder.
//	Nodes of out whose tree is complete have its skip. Open ones have the skip of base.
type editor struct {
	op    operation // what merge does
	base  Set       // base[i] is its i-th node, here and below
	with  Set       // the further set
	shift uint32    // what is added to the place of a text of with, where the result has those behind the texts of base

	out     []node
	changed bool
	took    bool // out has nodes of with
	steps   int  // how many nodes merge has passed
	emptied bool // see Set.within

	scratch *[]node // out goes back there
}

// scratches are memory for editors.
var scratches = sync.Pool{New: func() any { return new([]node) }}

// newEditor returns an editor that makes a set out of base, and may take from with. set must be
// called in the end, for it gives the scratch back.
func newEditor(base, with Set) editor {
	s := scratches.Get().(*[]node)
	return editor{base: base, with: with, out: *s, scratch: s}
}

// set returns the result. The editor must not be used afterwards.
func (e *editor) set() Set {
	result := e.base
	if e.changed {
		result.nodes = slices.Clone(e.out)
	}
	if e.took && e.shift > 0 {
		result.texts = e.base.texts.join(&e.with.texts)
	}
	*e.scratch = slab.Kept(e.out, maxScratch)
	scratches.Put(e.scratch)
	if len(result.nodes) == 0 {
		return Set{}
	}
	return result
}

// change begins the result with base[:i]: from there on it differs from base.
func (e *editor) change(i int) {
	if !e.changed {
		e.changed = true
		e.out = append(e.out, e.base.nodes[:i]...)
	}
}

// keep writes base[i:next], whole trees.
func (e *editor) keep(i, next int) {
	switch {
	case !e.changed:
	case next == i+1: // a leaf costs less than a run
		e.out = append(e.out, e.base.nodes[i])
	default:
		e.out = append(e.out, e.base.nodes[i:next]...)
	}
}

// drop leaves out the tree at base[i], or several.
func (e *editor) drop(i int) { e.change(i) }

// take writes with[j:next], whole trees, in front of base[i].
func (e *editor) take(i, j, next int) {
	e.change(i)
	e.took = true
	for _, n := range e.with.nodes[j:next] {
		n.at += e.shift
		e.out = append(e.out, n)
	}
}

// leaf writes base[i] alone if it is to be a member.
func (e *editor) leaf(i int, member flags) {
	n := &e.base.nodes[i]
	if n.member() != member {
		e.change(i)
	}
	if e.changed && member != 0 {
		e.out = append(e.out, *n)
		e.out[len(e.out)-1].set(included)
	}
}

// open writes base[i], the root of a tree, as a member or not, and returns its place. Then the walk goes on below
// the root, and calls close.
func (e *editor) open(i int, member flags) (place int) {
	n := e.base.nodes[i]
	if n.member() != member {
		e.change(i)
		n.bits ^= uint32(included)
	}
	if !e.changed {
		return i
	}
	e.out = append(e.out, n)
	return len(e.out) - 1
}

// close completes the tree whose root is at place. It takes back a root that is no member and has nothing below it.
func (e *editor) close(place int) {
	if !e.changed {
		return
	}
	root := &e.out[place]
	if root.skip = uint32(len(e.out) - place); root.skip == 1 && !root.has(included) {
		e.out = e.out[:place]
	}
}
