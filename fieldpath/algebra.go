package fieldpath

import (
	"slices"
	"sync"
)

// Union returns the paths that are members of s or of other.
func (s Set) Union(other Set) Set {
	if s.Same(other) || other.IsEmpty() {
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
	m := newMerger(base, with)
	if base.texts != with.texts {
		m.first = uint32(base.texts.count())
	}
	m.union(0, len(base.nodes), with.nodes)
	if out := m.set(); !out.Same(base) {
		return out
	}
	return large
}

// Intersect returns the paths that are members of both s and other.
func (s Set) Intersect(other Set) Set {
	if s.Same(other) {
		return s
	}
	base, with := s, other
	if len(base.nodes) > len(with.nodes) {
		base, with = with, base
	}
	m := newMerger(base, with)
	m.intersect(0, len(base.nodes), with.nodes)
	return m.set()
}

// Minus returns the members of s that are no members of other. That a path is a member of other does not remove the paths
// below it.
func (s Set) Minus(other Set) Set { return s.minus(other, false) }

// Without returns the members of s that neither are members of other nor have one above them.
func (s Set) Without(other Set) Set { return s.minus(other, true) }

func (s Set) minus(other Set, deep bool) Set {
	if s.Same(other) {
		return Set{}
	}
	m := newMerger(s, other)
	m.minus(0, len(s.nodes), other.nodes, deep)
	return m.set()
}

// merger writes the result of an operation on the set base. It copies nothing as long as the result is how base begins, so
// an operation that changes nothing returns its operand.
//
// Invariant: until own is set the result so far is base[:n]; then it is out. The skip of a node that is open is that of
// base until close.
type merger struct {
	base  []node
	texts texts // of base
	other texts // of the set that base is combined with
	n     int
	own   bool
	first uint32 // the number that the first of other has behind those of texts
	took  bool   // out has nodes of the other set
	out   []node // scratch, which the result is copied from
}

var mergers = sync.Pool{New: func() any { return new(merger) }}

func newMerger(base, other Set) *merger {
	m := mergers.Get().(*merger)
	*m = merger{base: base.nodes, texts: base.texts, other: other.texts, out: m.out[:0]}
	return m
}

// set returns the result. The merger must not be used afterwards.
func (m *merger) set() Set {
	nodes, t := m.base[:m.n:m.n], m.texts
	if m.own {
		nodes = slices.Clone(m.out)
	}
	if m.took && m.texts != m.other {
		t = m.texts.join(&m.other)
	}
	out := m.out
	if cap(out) > maxScratch {
		out = nil
	}
	*m = merger{out: out}
	mergers.Put(m)
	return setOf(t, nodes)
}

// keep writes base[i:end], whole trees.
func (m *merger) keep(i, end int) {
	switch {
	case i == end:
	case !m.own && m.n == i:
		m.n = end
	default:
		m.copy()
		m.append(m.base[i:end])
	}
}

// take writes trees of the other set.
func (m *merger) take(trees []node) {
	if len(trees) == 0 {
		return
	}
	m.copy()
	m.took = true
	start := len(m.out)
	m.append(trees)
	for i := start; m.first > 0 && i < len(m.out); i++ {
		m.out[i].at += m.first << textBits
	}
}

// append appends to out.
func (m *merger) append(nodes []node) {
	start := len(m.out)
	if cap(m.out)-start < len(nodes) {
		m.out = slices.Grow(m.out, len(nodes))
	}
	m.out = m.out[:start+len(nodes)] // unlike the built-in append, this does not write the pointer again, which has a barrier
	copy(m.out[start:], nodes)
}

// copy makes the result a copy of its own.
func (m *merger) copy() {
	if !m.own {
		m.own = true
		m.out = append(m.out[:0], m.base[:m.n]...)
	}
}

// open writes base[i] as the root of a tree, a member or not, and returns its place. Its children are written next, then
// close must be called.
func (m *merger) open(i int, member bool) (place int) {
	if !m.own && m.n == i && m.base[i].has(included) == member {
		m.n++
		return i
	}
	m.copy()
	m.out = append(m.out, m.base[i])
	place = len(m.out) - 1
	m.out[place].setMember(member)
	return place
}

// close ends the tree whose root open wrote at place. It takes the root back if that is no member and got no children.
func (m *merger) close(place int) {
	if !m.own {
		root := &m.base[place]
		switch size := m.n - place; {
		case size == int(root.skip):
			return
		case size == 1 && !root.has(included):
			m.n = place
			return
		}
		m.copy()
	}
	root := &m.out[place]
	root.skip = uint32(len(m.out) - place)
	if root.skip == 1 && !root.has(included) {
		m.out = m.out[:place]
	}
}

// In the operations below base[start:i] is what is decided to keep and not yet written.

// union writes the union of the sibling trees base[i:end] and with.
func (m *merger) union(i, end int, with []node) {
	start := i
	for i < end && len(with) > 0 {
		root, other := &m.base[i], &with[0]
		next := i + int(root.skip)
		switch c := compareNodes(root, &m.texts, other, &m.other); {
		case c < 0:
			i = next
			continue
		case c > 0:
			m.keep(start, i)
			start = i
			m.take(with[:other.skip])
		case other.skip == 1 && (root.has(included) || !other.has(included)):
			i = next
		default:
			m.keep(start, i)
			place := m.open(i, root.has(included) || other.has(included))
			m.union(i+1, next, with[1:other.skip])
			m.close(place)
			i, start = next, next
		}
		with = with[other.skip:]
	}
	m.keep(start, end)
	m.take(with)
}

// intersect writes what the sibling trees base[i:end] and with have in common.
func (m *merger) intersect(i, end int, with []node) {
	start := i
	for i < end && len(with) > 0 {
		root, other := &m.base[i], &with[0]
		next := i + int(root.skip)
		switch c := compareNodes(root, &m.texts, other, &m.other); {
		case c < 0:
			m.keep(start, i)
			i, start = next, next
			continue
		case c == 0 && root.skip == 1 && other.has(included):
			i = next
		case c == 0:
			m.keep(start, i)
			place := m.open(i, root.has(included) && other.has(included))
			m.intersect(i+1, next, with[1:other.skip])
			m.close(place)
			i, start = next, next
		}
		with = with[other.skip:]
	}
	m.keep(start, i)
}

// minus writes the sibling trees base[i:end] without what with has, and if deep without what is below that.
func (m *merger) minus(i, end int, with []node, deep bool) {
	start := i
	for i < end && len(with) > 0 {
		root, other := &m.base[i], &with[0]
		next := i + int(root.skip)
		switch c := compareNodes(root, &m.texts, other, &m.other); {
		case c < 0:
			i = next
			continue
		case c == 0 && other.has(included) && (deep || root.skip == 1):
			m.keep(start, i)
			i, start = next, next
		case c == 0 && root.skip == 1:
			i = next
		case c == 0:
			m.keep(start, i)
			place := m.open(i, root.has(included) && !other.has(included))
			m.minus(i+1, next, with[1:other.skip], deep)
			m.close(place)
			i, start = next, next
		}
		with = with[other.skip:]
	}
	m.keep(start, end)
}

// leaves writes the members among base[i:end] below which there are none.
func (m *merger) leaves(i, end int) {
	start := i
	for i < end {
		next := i + int(m.base[i].skip)
		if next > i+1 {
			m.keep(start, i)
			place := m.open(i, false)
			m.leaves(i+1, next)
			m.close(place)
			start = next
		}
		i = next
	}
	m.keep(start, end)
}

// filter writes what p keeps of base[i:end].
func (m *merger) filter(i, end int, p *matcher) {
	for i < end {
		next := i + int(m.base[i].skip)
		switch sub := p.match(m.base[i].element(&m.texts)); {
		case sub == nil:
		case sub.all:
			m.keep(i, next)
		default:
			place := m.open(i, m.base[i].has(included))
			m.filter(i+1, next, sub)
			m.close(place)
		}
		i = next
	}
}
