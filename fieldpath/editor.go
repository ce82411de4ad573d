package fieldpath

import (
	"slices"
	"sync"

	"github.com/deed-project/deed/internal/slab"
)

// editor makes a set from another set, base, in one walk from the first node of base to the last. The walk keeps or
// drops whole trees, or opens a tree and decides about the nodes below its root. In between, it takes trees of a
// second set. To drop c and take x:
//
//	base    a b{c d} e
//	                         out
//	keep a, open b
//	drop c                   a b          the first change: the nodes in front of it are written
//	keep d, close b          a b{d}
//	take x, keep e           a b{d} x e
//
// The result is written to scratch and then copied. If it equals base, it is base itself, and nothing is written.
//
// Invariants, where i is the current node of the walk:
//
//	!changed: the result so far is base[:i], and out is empty.
//	changed:  the result so far is out, in preorder.
//	Nodes of out have the skip of their tree if it is complete. If it is open, they have the skip of base.
type editor struct {
	op    operation // the operation of merge
	base  Set       // base[i] is node i of base, here and below
	with  Set       // the second set
	shift uint32    // added to node.at of nodes of with, because the result has their texts behind those of base

	out     []node
	changed bool
	took    bool // out has nodes of with
	steps   int  // number of nodes that merge has passed
	emptied bool // see Set.within

	scratch *[]node // goes back to scratches with the memory of out
}

// scratches holds memory for editors.
var scratches = sync.Pool{New: func() any { return new([]node) }}

// newEditor returns an editor that makes a set from base, and may take trees of with. The caller must call set in
// the end, which gives the scratch memory back.
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

// change begins the result with base[:i], because the result differs from base from there on.
func (e *editor) change(i int) {
	if !e.changed {
		e.changed = true
		e.out = append(e.out, e.base.nodes[:i]...)
	}
}

// keep writes the whole trees base[i:next].
func (e *editor) keep(i, next int) {
	switch {
	case !e.changed:
	case next == i+1: // to append one node costs less than to append a slice
		e.out = append(e.out, e.base.nodes[i])
	default:
		e.out = append(e.out, e.base.nodes[i:next]...)
	}
}

// drop leaves out one tree or several trees, the first at base[i].
func (e *editor) drop(i int) { e.change(i) }

// take writes the whole trees with[j:next] in front of base[i].
func (e *editor) take(i, j, next int) {
	e.change(i)
	e.took = true
	for _, n := range e.with.nodes[j:next] {
		n.at += e.shift
		e.out = append(e.out, n)
	}
}

// leaf writes base[i] without the nodes below it, unless member is 0.
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

// open writes base[i], the root of a tree, as a member or not, and returns its place. The walk then goes on below
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

// close completes the tree whose root is at place. It removes a root that is no member and has no nodes below it.
func (e *editor) close(place int) {
	if !e.changed {
		return
	}
	root := &e.out[place]
	if root.skip = uint32(len(e.out) - place); root.skip == 1 && !root.has(included) {
		e.out = e.out[:place]
	}
}
