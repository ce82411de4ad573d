package fieldpath

import (
	"slices"
	"sort"
)

// Patterns are the filters of kube-apiserver's reset fields, with its way to join prefixes: the
// tree that several prefixes make is not always the one that one would draw. The prefixes a, b and
// a, c:
//
//	a              one place for both, as rule 4 says, for there is nothing beside a
//	├── b
//	└── c
//
// Cost: a pattern is made once, of a server's configuration, in time that grows with the square of
// the prefixes that go on from one place. To keep what it matches is one walk of the set, which
// looks for each element at the ways on from its place.

// Any returns the zero Element, which in a prefix of a [Pattern] stands for every element.
func Any() Element { return Element{} }

// Pattern says by the beginnings of paths, its prefixes, which paths of a set to keep. [Any] in a
// prefix stands for every element. The zero Pattern keeps all.
type Pattern struct {
	root *matcher // nil keeps all
}

// matcher is a place in the tree of prefixes.
type matcher struct {
	all     bool // a prefix ends here: everything below is kept
	entries []entry
}

// entry is one way on from a place.
type entry struct {
	element Element // zero for every element
	below   *matcher
}

// PatternOf returns the pattern that keeps what begins with one of prefixes, and what one of them
// begins with:
//
//  1. Of no prefixes it keeps all paths.
//  2. A member is kept if a prefix begins with it, or it with a prefix.
//  3. At each place in the tree of prefixes, an element goes on with one prefix only: with one that
//     has Any there before one that has the element itself, and of several with the first. So of
//     two prefixes a, Any, b and a, Any, c the second keeps nothing below a that the first does
//     not. Where more than 12 go on from a place, the first is not always that of the arguments: it
//     is the one that [sort.Sort] leaves in front, and sort.Sort is not stable.
//  4. Prefixes that have the same element at a place go on together there only if the place has no
//     other elements. So of a, b and then c and then a, d the last keeps nothing below a, although
//     of a, b and a, d and c it would.
//
// Rules 3 and 4 are kube-apiserver's.
func PatternOf(prefixes ...Path) Pattern {
	if len(prefixes) == 0 {
		return Pattern{}
	}
	root := newMatcher(prefixes[0])
	for _, p := range prefixes[1:] {
		root = root.merge(newMatcher(p))
	}
	return Pattern{root}
}

// newMatcher returns the matcher of one prefix: a chain.
func newMatcher(p Path) *matcher {
	if len(p) == 0 {
		return &matcher{all: true}
	}
	return &matcher{entries: []entry{{p[0], newMatcher(p[1:])}}}
}

// merge returns the matcher of the prefixes of m and other. It changes neither.
func (m *matcher) merge(other *matcher) *matcher {
	if m.all || other.all {
		return &matcher{all: true}
	}
	entries := slices.Clone(m.entries)
	for _, e := range other.entries {
		if m.joins(e.element) {
			entries[0].below = entries[0].below.merge(e.below)
		} else {
			entries = append(entries, e)
		}
	}
	sort.Sort(byElement(entries))
	return &matcher{entries: entries}
}

// byElement sorts entries as the reference does: by [sort.Sort], so that of several with one
// element the same comes first.
type byElement []entry

// Len, Less and Swap are those of [sort.Interface].
func (s byElement) Len() int           { return len(s) }
func (s byElement) Less(i, j int) bool { return compareElements(s[i].element, s[j].element) < 0 }
func (s byElement) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }

// joins reports whether a further prefix with e at this place becomes one with the first entry. The
// reference searches its sorted entries by bisection, but in the wrong direction, so that it finds
// an element only when all entries that it looks at, from the middle down to the first, are of that
// element; and it never finds Any.
func (m *matcher) joins(e Element) bool {
	n := len(m.entries)
	return e != Any() && n > 0 && m.entries[0].element == e && m.entries[n/2].element == e
}

// match returns how the prefixes go on below e, and nil if none does.
func (m *matcher) match(e Element) *matcher {
	for _, entry := range m.entries {
		if entry.element == Any() || entry.element == e {
			return entry.below
		}
	}
	return nil
}

// filter returns the members of s that p keeps.
func (s Set) filter(p Pattern) Set {
	if p.root == nil || p.root.all {
		return s
	}
	e := newEditor(s, Set{})
	e.filter(0, len(s.nodes), p.root)
	return e.set()
}
