package fieldpath

import (
	"slices"
	"sync"

	"github.com/deed-project/deed/internal/slab"
)

// editor makes a set out of another one, base, which is walked once, from the first node to the
// last: whoever walks says what is dropped, what of a further set comes in, and which nodes begin
// to be members or cease to be. All else stays, by the run; an edit that changes nothing copies
// nothing. To drop c and take x out of with, in front of e:
//
//	base    a b c d e f
//	                          out            start
//	drop c  a b c d e f       a b            3: d       what was in front of c is written
//	            ^^^
//	take x  a b c d e f       a b d x        4: e       so is d, and then x
//	                ^
//	set     a b c d e f       a b d x e f    6          and what is left
//
// Invariants, i being the node that the walk is at:
//
//	The result so far is out and, behind it, base[start:i]; start <= i.
//	len(out) == 0 && start == 0 as long as nothing is changed: then the result is base itself.
//	Nodes of out whose tree is complete have its skip; those that are entered still have that of base.
type editor struct {
	base  Set    // base[i] is its i-th node, here and below
	with  Set    // the further set
	shift uint32 // what is added to the place of a text of with, where the result has those behind the texts of base
	took  bool   // out has nodes of with
	out   []node
	start int
	steps int // how many nodes merge has passed

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
	// Something was changed: the result is a copy. Else it is base, and nothing is copied.
	if e.start > 0 || len(e.out) > 0 {
		e.flush(len(e.base.nodes))
		result.nodes = slices.Clone(e.out)
	}
	if e.took && e.base.texts != e.with.texts {
		result.texts = e.base.texts.join(&e.with.texts)
	}
	*e.scratch = slab.Kept(e.out, maxScratch)
	scratches.Put(e.scratch)
	if len(result.nodes) == 0 {
		return Set{}
	}
	return result
}

// flush writes base[start:i].
func (e *editor) flush(i int) {
	e.write(e.base.nodes[e.start:i])
	e.start = i
}

// write appends nodes to the result. Unlike append, it does not write the pointer of out again, which has a barrier.
func (e *editor) write(nodes []node) {
	start := len(e.out)
	if cap(e.out)-start < len(nodes) {
		e.out = slices.Grow(e.out, len(nodes))
	}
	e.out = e.out[:start+len(nodes)]
	copy(e.out[start:], nodes)
}

// drop leaves out base[i:next], whole trees.
func (e *editor) drop(i, next int) {
	if e.start < i {
		e.flush(i)
	}
	e.start = next
}

// take puts with[j:next], whole trees, in front of base[i].
func (e *editor) take(i, j, next int) {
	e.flush(i)
	e.took = true
	start := len(e.out)
	e.write(e.with.nodes[j:next])
	if e.shift > 0 {
		for k := start; k < len(e.out); k++ {
			e.out[k].at += e.shift
		}
	}
}

// enter returns the place of base[i] in the result. The walk goes on with what is below it, then
// leave must be called.
func (e *editor) enter(i int) (place int) { return len(e.out) + i - e.start }

// turn makes base[i], which was entered last, a member if it is none, and none if it is one.
func (e *editor) turn(i int) {
	e.flush(i + 1)
	e.out[len(e.out)-1].bits ^= uint32(included)
}

// leave completes the tree that enter returned the place of, when the walk is at base[i], the first
// node behind it. It takes the root back if that is no member and has nothing below it.
func (e *editor) leave(place, i int) {
	// The root is still a part of base that has not been written, so all of its tree is as it was.
	if place >= len(e.out) {
		return // neither the root nor anything below it is changed
	}
	root := &e.out[place]
	root.skip = uint32(len(e.out) + i - e.start - place)
	if root.skip == 1 && !root.has(included) {
		e.out = e.out[:place]
	}
}
