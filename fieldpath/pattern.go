package fieldpath

import (
	"slices"
	"sort"
)

// Patterns are the filters of kube-apiserver's reset fields, and join prefixes as kube-apiserver
// does. The tree of several prefixes is therefore not always the obvious one. The prefixes (a, b)
// and (a, c):
//
//	a              one place for both by rule 4: the root has no other elements
//	├── b
//	└── c
//
// Cost: a pattern is made once, from the configuration of a server. The time grows with the square
// of the number of prefixes that go on from one place. A filter is one walk of the set, which
// compares each element with the entries of a place.

// Any returns the zero Element, which in a prefix of a [Pattern] stands for every element.
func Any() Element { return Element{} }

// Pattern selects paths of a set by their beginnings, its prefixes. [Any] in a prefix stands for
// every element. The zero Pattern keeps all paths.
type Pattern struct {
	root *matcher // nil keeps all
}

// matcher is a place in the tree of prefixes.
type matcher struct {
	all     bool // a prefix ends here: everything below is kept
	entries []entry
}

// entry is one element with which prefixes go on from a place.
type entry struct {
	element Element // zero for every element
	below   *matcher
}

// PatternOf returns the pattern that keeps the paths that begin with one of prefixes, and the
// beginnings of the prefixes:
//
//  1. Without prefixes, it keeps all paths.
//  2. A member is kept if a prefix begins with it, or it begins with a prefix.
//  3. At each place in the tree of prefixes, an element goes on with one prefix only. A prefix that
//     has Any there comes before one that has the element itself, and the first of several counts.
//     Of the prefixes (a, Any, b) and (a, Any, c), the second keeps nothing below a that the first
//     does not. If more than 12 go on from a place, the first is the one that [sort.Sort] leaves in
//     front. This is not always the first argument, because sort.Sort is not stable.
//  4. A further prefix is joined with the first prefix of a place only if both have the same
//     element there. The middle prefix in sort order must have it, too, as in a place without other
//     elements. Any is never joined. Of the prefixes (a, b), (c) and (a, d) in this order, the last
//     keeps nothing below a. In the order (a, b), (a, d), (c), the prefix (a, d) keeps d below a.
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

// byElement sorts entries by [sort.Sort], as the reference does. Of several entries with one
// element, the same one then comes first.
type byElement []entry

// Len, Less and Swap are those of [sort.Interface].
func (s byElement) Len() int           { return len(s) }
func (s byElement) Less(i, j int) bool { return compareElements(s[i].element, s[j].element) < 0 }
func (s byElement) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }

// joins reports whether a further prefix with e at this place is joined with the first entry. The
// reference searches its sorted entries by bisection, but in the wrong direction. It finds an
// element only if all entries that it compares, from the middle down to the first, have that
// element. It never finds Any.
func (m *matcher) joins(e Element) bool {
	n := len(m.entries)
	return e != Any() && n > 0 && m.entries[0].element == e && m.entries[n/2].element == e
}

// match returns the place of the prefixes below e, and nil if no prefix goes on with e.
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
