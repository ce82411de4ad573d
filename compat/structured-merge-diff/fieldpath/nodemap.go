package fieldpath

import (
	"iter"
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/schema"
)

// A SetNodeMap is the level below the members of a set. This file combines trees level by level.

// children returns the nodes in order. The slice must not be modified.
func (s *SetNodeMap) children() []setNode {
	if s.of != nil {
		return s.of.expand().nodes
	}
	return s.nodes
}

func (s *SetNodeMap) search(pe PathElement) (*Set, int, bool) {
	nodes := s.children()
	i, found := slices.BinarySearchFunc(nodes, pe, func(n setNode, pe PathElement) int { return n.element.Compare(pe) })
	if !found {
		return nil, i, false
	}
	return nodes[i].set, i, true
}

// Copy returns a copy of s.
func (s *SetNodeMap) Copy() SetNodeMap {
	if s.of != nil {
		return *s
	}
	out := make([]setNode, len(s.nodes))
	for i, n := range s.nodes {
		out[i] = setNode{n.element.Copy(), n.set.Copy()}
	}
	return SetNodeMap{nodes: out}
}

// Descend returns the set of pe. If there is none, Descend adds an empty set. The caller may modify the result, which changes s.
func (s *SetNodeMap) Descend(pe PathElement) *Set {
	if s.of != nil {
		nodes := slices.Clone(s.children())
		for i := range nodes {
			own := *nodes[i].set
			nodes[i].set = &own
		}
		*s = SetNodeMap{nodes: nodes}
	}
	set, i, found := s.search(pe)
	if !found {
		set = &Set{}
		s.nodes = slices.Insert(s.nodes, i, setNode{pe, set})
	}
	return set
}

// Size returns the number of members of all sets.
func (s *SetNodeMap) Size() int {
	size := 0
	for _, n := range s.children() {
		size += n.set.Size()
	}
	return size
}

// Empty reports whether no set has members.
func (s *SetNodeMap) Empty() bool {
	return !slices.ContainsFunc(s.children(), func(n setNode) bool { return !n.set.Empty() })
}

// Get returns the set of pe, and whether there is one.
func (s *SetNodeMap) Get(pe PathElement) (*Set, bool) {
	set, _, found := s.search(pe)
	return set, found
}

// Equals reports whether both maps have the same elements with equal sets.
func (s *SetNodeMap) Equals(s2 *SetNodeMap) bool {
	return slices.EqualFunc(s.children(), s2.children(), func(a, b setNode) bool {
		return a.element.Equals(b.element) && a.set.Equals(b.set)
	})
}

// zipped returns the map from each element of s and s2 to the result of below. left or right is nil if only the other map has
// the element. Elements for which below returns no members are left out.
func (s *SetNodeMap) zipped(s2 *SetNodeMap, below func(e PathElement, left, right *Set) *Set) *SetNodeMap {
	out := &SetNodeMap{}
	left, right := s.children(), s2.children()
	for len(left) > 0 || len(right) > 0 {
		c := compareHeads(left, right, func(n setNode) PathElement { return n.element })
		var element PathElement
		var l, r *Set
		if c >= 0 {
			element, r = right[0].element, right[0].set
			right = right[1:]
		}
		if c <= 0 {
			element, l = left[0].element, left[0].set
			left = left[1:]
		}
		if set := below(element, l, r); set != nil && !set.Empty() {
			out.nodes = append(out.nodes, setNode{element, set})
		}
	}
	return out
}

// Union returns the elements of s and s2, each with the union of its sets.
func (s *SetNodeMap) Union(s2 *SetNodeMap) *SetNodeMap {
	return s.zipped(s2, func(_ PathElement, left, right *Set) *Set {
		switch {
		case left == nil:
			return right.below()
		case right == nil:
			return left.below()
		}
		return left.Union(right).below()
	})
}

// Intersection returns the elements that s and s2 have in common, each with the intersection of its sets.
func (s *SetNodeMap) Intersection(s2 *SetNodeMap) *SetNodeMap {
	return s.zipped(s2, func(_ PathElement, left, right *Set) *Set {
		if left == nil || right == nil {
			return nil
		}
		return left.Intersection(right).below()
	})
}

// Difference returns the elements of s, each with its set without the paths that s2 has below that element.
func (s *SetNodeMap) Difference(s2 *Set) *SetNodeMap {
	return s.zipped(&s2.Children, func(_ PathElement, left, right *Set) *Set {
		switch {
		case left == nil:
			return nil
		case right == nil:
			return left.below()
		}
		return left.Difference(right).below()
	})
}

// RecursiveDifference returns the elements of s that are not members of s2. The set of each element lacks the paths that s2 has
// below the element, and all paths below these.
func (s *SetNodeMap) RecursiveDifference(s2 *Set) *SetNodeMap {
	return s.zipped(&s2.Children, func(e PathElement, left, right *Set) *Set {
		switch {
		case left == nil || s2.Members.Has(e):
			return nil
		case right == nil:
			return left.below()
		}
		return left.RecursiveDifference(right).below()
	})
}

// below returns a copy of s as part of another set.
func (s *Set) below() *Set {
	out := s.Copy()
	out.Children.built = nil
	return out
}

// EnsureNamedFieldsAreMembers returns s with more members: the fields that the schema declares and that have paths below them.
// tr is the type of the object that has the elements.
func (s *SetNodeMap) EnsureNamedFieldsAreMembers(sc *schema.Schema, tr schema.TypeRef) *SetNodeMap {
	return &(&Set{Children: *s}).EnsureNamedFieldsAreMembers(sc, tr).Children
}

// FilterIncludeMatches returns the paths of s that pattern matches.
func (s *SetNodeMap) FilterIncludeMatches(pattern *SetMatcher) *SetNodeMap {
	return &(&Set{Children: *s}).FilterIncludeMatches(pattern).Children
}

// Leaves returns s with the leaves of each set.
func (s *SetNodeMap) Leaves() *SetNodeMap {
	out := &SetNodeMap{}
	for _, n := range s.children() {
		out.nodes = append(out.nodes, setNode{n.element, n.set.Leaves()})
	}
	return out
}

// Iterate calls f with each element in order.
func (s *SetNodeMap) Iterate(f func(PathElement)) {
	for _, n := range s.children() {
		f(n.element)
	}
}

// All yields the elements in order.
func (s *SetNodeMap) All() iter.Seq[PathElement] {
	return func(yield func(PathElement) bool) {
		for _, n := range s.children() {
			if !yield(n.element) {
				return
			}
		}
	}
}
