package fieldpath

import (
	"slices"
	"strings"

	"github.com/deed-project/deed/internal/work"
)

// Set algebra: every operation is one walk of two sorted trees. The walk tells an editor which nodes of the first
// tree stay and which go, and which nodes of the second come in.
//
//	a              .a .a.b .c
//	b              .a .a.d
//	a.Union(b)     .a .a.b .a.d .c
//	a.Intersect(b) .a
//	a.Minus(b)     .a.b .c         .a goes, what is below it stays
//	a.Without(b)   .c              .a goes with all that is below it
//	a.within(b)    .a .a.b         .a comes with all that is below it

// Union returns the paths that are members of s or of other.
func (s Set) Union(other Set) Set {
	// Nothing comes in.
	if s.same(other) || other.IsEmpty() {
		return s
	}
	if s.IsEmpty() {
		return other
	}
	large, small := s, other
	if len(large.nodes) < len(small.nodes) {
		large, small = small, large
	}
	base, with := large, small
	if base.texts != with.texts && base.texts.count()+with.texts.count() > maxTexts {
		base, with = base.compact(), with.compact()
	}
	e := newEditor(base, with)
	if base.texts != with.texts {
		e.shift = uint32(base.texts.count()) << textBits
	}
	if out := e.combine(union); !out.same(base) {
		return out
	}
	return large
}

// Intersect returns the paths that are members of both s and other.
func (s Set) Intersect(other Set) Set {
	if s.same(other) {
		return s
	}
	if s.IsEmpty() || other.IsEmpty() {
		return Set{}
	}
	base, with := s, other
	if len(base.nodes) > len(with.nodes) {
		base, with = with, base
	}
	e := newEditor(base, with)
	return e.combine(intersection)
}

// Minus returns the members of s that are no members of other. That a path is a member of other
// does not remove the paths below it.
func (s Set) Minus(other Set) Set { return s.minus(other, difference) }

// Without returns the members of s that neither are members of other nor have one above them.
func (s Set) Without(other Set) Set { return s.minus(other, deepDifference) }

// minus returns s without what how drops of it: Minus, or Without.
func (s Set) minus(other Set, how operation) Set {
	if s.same(other) {
		return Set{}
	}
	if s.IsEmpty() || other.IsEmpty() {
		return s
	}
	e := newEditor(s, other)
	return e.combine(how)
}

// within returns what s.Without(other) leaves out: the members of s that are members of other or have
// one above them. It reports whether there is a path, perhaps the empty one, of which all that s has
// directly below it is in other.
func (s Set) within(other Set) (in Set, emptied bool) {
	e := newEditor(s, other)
	in = e.combine(deepIntersection)
	return in, e.emptied
}

// operation says what merge makes of two sets.
type operation uint8

const (
	union operation = iota
	intersection
	difference
	deepDifference
	deepIntersection
)

// keeps reports whether what base alone has is in the result.
func (op operation) keeps() bool { return op != intersection && op != deepIntersection }

// combine returns what op makes of base and with.
func (e *editor) combine(op operation) Set {
	e.op = op
	e.merge(0, len(e.base.nodes), 0, len(e.with.nodes))
	work.Add(work.Counts{Steps: e.steps})
	return e.set()
}

// merge combines base[i:end] and with[j:last], the children of one path, walking both at once.
// Siblings are in order, so of the two nodes in front the smaller one is in its own set alone, with
// all below it; equal ones are in both, and so are their children merged. The union of two sets:
//
//	base  .a .a.b .c    with  .a .a.d .b
//
//	base[i]  with[j]                 what is done           result so far
//	.a       .a       both have it   merge what is below    .a
//	.a.b     .a.d     base is first  .a.b stays             .a .a.b
//	end      .a.d     base is done   take .a.d, leave .a    .a .a.b .a.d
//	.c       .b       with is first  take .b                .a .a.b .a.d .b
//	.c       end      with is done   .c stays               .a .a.b .a.d .b .c
//
// The other operations take nothing from with; they differ in what they drop of base.
//
// Invariants, at the head of the loop:
//
//	base[i:end] and with[j:last] are what is left of the children.
//	What is in front of base[i] and with[j] is in the result as op has it.
//	emptied: deepIntersection has taken all that is in front of base[i], as Set.within reports.
//
// Each node is passed once at most, and a tree that is in one set alone in one step.
func (e *editor) merge(i, end, j, last int) {
	op := e.op
	base, with := e.base.nodes[:end], e.with.nodes[:last]
	emptied := true
	for i < len(base) && j < len(with) {
		e.steps++
		own, other := &base[i], &with[j]
		order := int(own.order()) - int(other.order())
		if order == 0 {
			order = strings.Compare(own.in(&e.base.texts), other.in(&e.with.texts))
		}
		next, after := i+int(own.skip), j+int(other.skip)
		if order < 0 { // in base alone
			if op.keeps() {
				e.keep(i, next)
			} else {
				e.drop(i)
				emptied = false
			}
			i = next
			continue
		}
		if order > 0 { // in with alone
			if op == union {
				e.take(i, j, after)
			}
			j = after
			continue
		}
		// In both: op says whether the path is a member of the result.
		member, theirs := own.member(), other.member()
		switch op {
		case union:
			member |= theirs
		case intersection:
			member &= theirs
		case difference:
			member &^= theirs
		case deepDifference:
			if theirs != 0 { // with all that is below it, so none of that is walked
				e.drop(i)
				i, j = next, after
				continue
			}
		case deepIntersection:
			if theirs != 0 { // with all that is below it
				e.keep(i, next)
				i, j = next, after
				continue
			}
			member, emptied = 0, false
		}
		if own.skip == 1 && (op != union || other.skip == 1) { // nothing below it can come into the result
			e.leaf(i, member)
		} else {
			place := e.open(i, member)
			e.merge(i+1, next, j+1, after)
			e.close(place)
		}
		i, j = next, after
	}
	// One of the two has no more children: what the other has left is in it alone.
	if i < end {
		if op.keeps() {
			e.keep(i, end)
		} else {
			e.drop(i)
			emptied = false
		}
	}
	e.emptied = e.emptied || emptied
	if j < last && op == union {
		e.take(end, j, last)
	}
}

// leaves drops the members of base[i:end] below which there are others.
func (e *editor) leaves(i, end int) {
	for i < end {
		next := i + int(e.base.nodes[i].skip)
		if next == i+1 {
			e.keep(i, next)
		} else {
			place := e.open(i, 0)
			e.leaves(i+1, next)
			e.close(place)
		}
		i = next
	}
}

// filter drops what p does not keep of base[i:end].
func (e *editor) filter(i, end int, p *matcher) {
	for i < end {
		n := &e.base.nodes[i]
		next := i + int(n.skip)
		switch sub := p.match(n.element(&e.base.texts)); {
		case sub == nil:
			e.drop(i)
		case sub.all:
			e.keep(i, next)
		default:
			place := e.open(i, n.member())
			e.filter(i+1, next, sub)
			e.close(place)
		}
		i = next
	}
}

// include returns s with those paths made members that want says. want is called for each path that
// has members below it, with the path's last element and the number of elements in front of that. It
// also says whether to go on below the path.
//
// Nodes only become members, so the tree keeps its shape: it is copied once, at the first change.
func (s Set) include(want func(depth int, e Element) (member, descend bool)) Set {
	out := inclusion{set: s, want: want}
	out.below(0, len(s.nodes), 0)
	return out.set
}

// inclusion is a set in which paths become members.
type inclusion struct {
	set    Set
	copied bool // the nodes are those of the result alone
	want   func(depth int, e Element) (member, descend bool)
}

// below includes what is wanted of nodes[i:end], siblings, and of what is below them.
func (in *inclusion) below(i, end, depth int) {
	for i < end {
		n := &in.set.nodes[i]
		next := i + int(n.skip)
		if n.skip > 1 {
			member, descend := in.want(depth, n.element(&in.set.texts))
			if member && !n.has(included) {
				in.include(i)
			}
			if descend {
				in.below(i+1, next, depth+1)
			}
		}
		i = next
	}
}

// include makes the path of nodes[i] a member.
func (in *inclusion) include(i int) {
	if !in.copied {
		in.set.nodes, in.copied = slices.Clone(in.set.nodes), true
	}
	in.set.nodes[i].set(included)
}
