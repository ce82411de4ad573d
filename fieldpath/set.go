package fieldpath

import (
	"iter"
	"slices"

	"github.com/deed-project/deed/internal/work"
)

// Set is an immutable set of paths. The zero Set is empty.
//
// A path is a member by itself: neither the paths above it nor those below it need be. The empty
// path never is. A path may have the zero [Element], which stands for all list items without
// identity, see typed.Value; fieldsV1 has no name for it.
type Set struct {
	texts texts
	// nodes is the tree of all members in preorder:
	//
	//	set     .a .a.b .c.d
	//
	//	nodes   a    b    c    d
	//	member  yes  yes  no   yes
	//	skip    2    1    2    1     how many nodes the tree has: a sibling comes skip nodes later
	//
	// Invariants, for each node i, whose tree is nodes[i : i+nodes[i].skip]:
	//
	//	nodes[i].has(included) || nodes[i].skip > 1
	//	its children are i+1 and, behind each child c, c+nodes[c].skip, as long as that is in the tree of i
	//	siblings are strictly ascending, as compareElements has it
	//
	// No node refers to the position of another, so the descendants of a node, a part of nodes, are
	// a Set too.
	nodes []node
}

// setOf returns the set of nodes. An empty one keeps no texts alive.
func setOf(t texts, nodes []node) Set {
	if len(nodes) == 0 {
		return Set{}
	}
	return Set{t, nodes}
}

// SetOf returns the set of paths.
func SetOf(paths ...Path) Set {
	var b Builder
	for _, p := range paths {
		b.Add(p)
	}
	return b.Set()
}

// IsEmpty reports whether s has no members.
func (s Set) IsEmpty() bool { return len(s.nodes) == 0 }

// Len returns the number of members.
func (s Set) Len() int {
	members := 0
	for i := range s.nodes {
		if s.nodes[i].has(included) {
			members++
		}
	}
	return members
}

// Equal reports whether s and other have the same members.
func (s Set) Equal(other Set) bool {
	if s.same(other) {
		return true
	}
	if len(s.nodes) != len(other.nodes) {
		return false
	}
	for i := range s.nodes {
		n, o := &s.nodes[i], &other.nodes[i]
		if n.order() != o.order() || n.skip != o.skip || n.has(included) != o.has(included) || n.in(&s.texts) != o.in(&other.texts) {
			return false
		}
	}
	return true
}

// named returns s without the members whose paths have the zero Element. It costs little if there are
// none.
func (s Set) named() Set {
	if !slices.ContainsFunc(s.nodes, func(n node) bool { return n.kind() == 0 }) {
		return s
	}
	var b Builder
	b.addNamed(s)
	return b.Set()
}

// addNamed adds the members of s whose paths do not have the zero Element.
func (b *Builder) addNamed(s Set) {
	for e := range s.Entries() {
		if e.Element != (Element{}) {
			b.enter(e.Element)
			b.addNamed(e.Sub)
			b.leave(e.Member)
		}
	}
}

// same reports in constant time whether s and other are the same storage or both empty. Same sets
// are Equal; Equal sets need not be the same.
func (s Set) same(other Set) bool {
	return len(s.nodes) == len(other.nodes) && (len(s.nodes) == 0 || &s.nodes[0] == &other.nodes[0])
}

// storage says which storage s is: it is equal for two sets exactly if they are the same.
type storage struct {
	first *node // nil for the empty set
	nodes int
}

// storage returns which storage s is.
func (s Set) storage() storage {
	if len(s.nodes) == 0 {
		return storage{}
	}
	return storage{&s.nodes[0], len(s.nodes)}
}

// Has reports whether p is a member.
func (s Set) Has(p Path) bool {
	found := false
	for _, e := range p {
		if found, s = s.Get(e); !found && s.IsEmpty() {
			return false
		}
	}
	return found
}

// Get reports whether the path of e alone is a member, and returns the members below it, without e
// in front. It passes the elements in front of e one by one: whoever looks for many takes
// [Set.Entries].
func (s Set) Get(e Element) (member bool, sub Set) {
	order, steps := orderOf(e.kind, e.text), 0
	// Siblings are passed by their skip, with all that is below them. Their order, a number, mostly
	// tells which comes first; texts are looked at only where the numbers are the same.
	for rest := s.nodes; len(rest) > 0; rest = rest[rest[0].skip:] {
		steps++
		n := &rest[0]
		if o := n.order(); o > order {
			break
		} else if o < order {
			continue
		}
		if text := n.in(&s.texts); text == e.text {
			member, sub = n.has(included), setOf(s.texts, rest[1:n.skip:n.skip])
			break
		} else if text > e.text {
			break
		}
	}
	work.Add(work.Counts{Steps: steps})
	return member, sub
}

// Leaves returns the members below which there are none.
func (s Set) Leaves() Set {
	e := newEditor(s, Set{})
	e.leaves(0, len(s.nodes))
	return e.set()
}

// String returns the members as [Path.String] prints them, one per line, in the order of [Set.All].
func (s Set) String() string {
	var b []byte
	for p := range s.All() {
		if len(b) > 0 {
			b = append(b, '\n')
		}
		for _, e := range p {
			b = e.appendStyled(b, styleDisplay)
		}
	}
	return string(b)
}

// All yields the members: those of one element first, then, for each element in order, all that are
// below it, by the same rule. Yielded paths belong to the caller.
func (s Set) All() iter.Seq[Path] {
	return func(yield func(Path) bool) { s.all(nil, yield) }
}

// all is All for a set whose members lie below prefix. It reports false when no more are wanted.
func (s Set) all(prefix Path, yield func(Path) bool) bool {
	for c := s.cursor(); !c.done(); c.next() {
		if n := &c.rest[0]; n.has(included) && !yield(appendElement(prefix, n.element(&c.texts))) {
			return false
		}
	}
	for c := s.cursor(); !c.done(); c.next() {
		if e := c.entry(); !e.Sub.IsEmpty() && !e.Sub.all(appendElement(prefix, e.Element), yield) {
			return false
		}
	}
	return true
}

// appendElement returns a new path: that of prefix and e.
func appendElement(prefix Path, e Element) Path {
	p := make(Path, len(prefix)+1)
	copy(p, prefix)
	p[len(prefix)] = e
	return p
}

// Entry is what a set has at one element: whether the path of that element alone is a member, and
// the members below it, without the element in front.
type Entry struct {
	Element Element
	Member  bool
	Sub     Set
}

// Entries yields what s has at each element that begins a member, in order.
func (s Set) Entries() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for c := s.cursor(); !c.done(); c.next() {
			if !yield(c.entry()) {
				return
			}
		}
	}
}

// width returns how many trees nodes are. It costs as much.
func width(nodes []node) int {
	n := 0
	for ; len(nodes) > 0; nodes = nodes[nodes[0].skip:] {
		n++
	}
	return n
}

// branches yields the entries of s that have members below their element, in order.
func (s Set) branches() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for c := s.cursor(); !c.done(); c.next() {
			if c.rest[0].skip > 1 && !yield(c.entry()) {
				return
			}
		}
	}
}

// cursor is a place among the entries of a set.
type cursor struct {
	texts texts
	rest  []node // the entry where the cursor stands and all after it
}

// cursor returns a cursor at the first entry.
func (s Set) cursor() cursor { return cursor{s.texts, s.nodes} }

// done reports whether the cursor is past the last entry.
func (c *cursor) done() bool { return len(c.rest) == 0 }

// entry returns the entry where the cursor, which is not done, stands.
func (c *cursor) entry() Entry {
	n := &c.rest[0]
	return Entry{n.element(&c.texts), n.has(included), setOf(c.texts, c.rest[1:n.skip:n.skip])}
}

// next moves the cursor, which is not done, to the next entry.
func (c *cursor) next() { c.rest = c.rest[c.rest[0].skip:] }
