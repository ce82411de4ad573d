package fieldpath

import (
	"slices"
	"strings"

	"github.com/deed-project/deed/internal/work"
)

// Set algebra: each operation is one walk of two sorted trees. The walk tells an editor which nodes of the first
// tree to keep or drop, and which nodes of the second tree to take.
//
//	a              .a .a.b .c
//	b              .a .a.d
//	a.Union(b)     .a .a.b .a.d .c
//	a.Intersect(b) .a
//	a.Minus(b)     .a.b .c         .a is dropped, the members below it stay
//	a.Without(b)   .c              .a is dropped with all members below it
//	a.within(b)    .a .a.b         .a is kept with all members below it

// Union returns the paths that are members of s or of other.
func (s Set) Union(other Set) Set {
	// other adds nothing.
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

// Minus returns the members of s that are not members of other. A member of other does not remove
// the paths below it.
func (s Set) Minus(other Set) Set { return s.minus(other, difference) }

// Without returns the members of s that are not in other and have no member of other above them.
func (s Set) Without(other Set) Set { return s.minus(other, deepDifference) }

// minus is Minus or Without, depending on how.
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

// within returns the members that s.Without(other) drops: those in other or below a member of other.
// emptied reports whether all paths that s has directly below some path are members of other. That path
// may be the empty one. Paths below a member of other do not count.
func (s Set) within(other Set) (in Set, emptied bool) {
	e := newEditor(s, other)
	in = e.combine(deepIntersection)
	return in, e.emptied
}

// operation is a way to combine two sets.
type operation uint8

const (
	union operation = iota
	intersection
	difference
	deepDifference
	deepIntersection
)

// keeps reports whether the result has the nodes that only base has.
func (op operation) keeps() bool { return op != intersection && op != deepIntersection }

// combine returns the result of op for base and with.
func (e *editor) combine(op operation) Set {
	e.op = op
	e.merge(0, len(e.base.nodes), 0, len(e.with.nodes))
	work.Add(work.Counts{Steps: e.steps})
	return e.set()
}

// merge combines base[i:end] and with[j:last], the children of one path, in one walk of both. Siblings
// are sorted, so of two different current nodes, the smaller one is in its own set alone, with all nodes
// below it. Equal nodes are in both sets, and merge combines their children. The union of two sets:
//
//	base  .a .a.b .c    with  .a .a.d .b
//
//	base[i]  with[j]                 what is done           result so far
//	.a       .a       both have it   merge the children     .a
//	.a.b     .a.d     base is first  .a.b stays             .a .a.b
//	end      .a.d     base is done   take .a.d, close .a    .a .a.b .a.d
//	.c       .b       with is first  take .b                .a .a.b .a.d .b
//	.c       end      with is done   .c stays               .a .a.b .a.d .b .c
//
// The other operations take nothing from with. They differ in the nodes of base that they drop.
//
// Invariants, at the head of the loop:
//
//	base[i:end] and with[j:last] are the children that remain.
//	The result has the nodes before base[i] and with[j], combined by op.
//	emptied: deepIntersection has kept all children before base[i], as Set.within reports.
//
// Cost: at most one step for each node, and one step for a tree that only one set has.
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
			if theirs != 0 { // with all nodes below it, which are not walked
				e.drop(i)
				i, j = next, after
				continue
			}
		case deepIntersection:
			if theirs != 0 { // with all nodes below it
				e.keep(i, next)
				i, j = next, after
				continue
			}
			member, emptied = 0, false
		}
		if own.skip == 1 && (op != union || other.skip == 1) { // no node below it can be in the result
			e.leaf(i, member)
		} else {
			place := e.open(i, member)
			e.merge(i+1, next, j+1, after)
			e.close(place)
		}
		i, j = next, after
	}
	// One set has no more children. The remaining children of the other set are in it alone.
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

// leaves drops the members of base[i:end] that have members below them.
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

// filter drops the nodes of base[i:end] that p does not keep.
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

// include returns s with further members: the paths for which want returns member. It calls want for
// each path that has members below it. depth is the number of elements in front of e, the last
// element of the path. descend says whether to go on below the path.
//
// Nodes only become members, so the tree keeps its shape. It is copied once, at the first change.
func (s Set) include(want func(depth int, e Element) (member, descend bool)) Set {
	out := inclusion{set: s, want: want}
	out.below(0, len(s.nodes), 0)
	return out.set
}

// inclusion is the state of include.
type inclusion struct {
	set    Set
	copied bool // no other set has the nodes
	want   func(depth int, e Element) (member, descend bool)
}

// below makes the wanted paths members, among the siblings nodes[i:end] and the nodes below them.
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
