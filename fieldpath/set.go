package fieldpath

import (
	"iter"
	"slices"

	"github.com/deed-project/deed/internal/work"
)

// Set is an immutable set of paths. The zero Set is empty.
//
// A path is a member independently of the paths above and below it. The empty path is never a
// member. A path may have the zero [Element], which stands for all list items without identity, see
// typed.Value. fieldsV1 has no name for the zero Element.
type Set struct {
	texts texts
	// nodes is the tree of all members in preorder:
	//
	//	set     .a .a.b .c.d
	//
	//	nodes   a    b    c    d
	//	member  yes  yes  no   yes
	//	skip    2    1    2    1     number of nodes in the tree: the next sibling is skip nodes later
	//
	// Invariants, for each node i, whose tree is nodes[i : i+nodes[i].skip]:
	//
	//	nodes[i].has(included) || nodes[i].skip > 1
	//	its children are i+1 and, after each child c, c+nodes[c].skip while that is in the tree of i
	//	siblings are strictly ascending by compareElements
	//
	// No node refers to the position of another. The descendants of a node are a part of nodes, and
	// are therefore a Set too.
	nodes []node
}

// setOf returns the set with these texts and nodes. An empty set keeps no texts alive.
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

// named returns s without the members whose paths have the zero Element. If there are none, it costs
// one scan of the nodes.
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

// same reports in constant time whether s and other share their storage or are both empty. Sets that
// are the same are Equal; Equal sets need not be the same.
func (s Set) same(other Set) bool {
	return len(s.nodes) == len(other.nodes) && (len(s.nodes) == 0 || &s.nodes[0] == &other.nodes[0])
}

// storage identifies the storage of a set. It is equal for two sets exactly if they are the same.
type storage struct {
	first *node // nil for the empty set
	nodes int
}

// storage returns the storage of s.
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

// Get reports whether the path of e alone is a member. It also returns the members below that path,
// without e in front. Get passes the elements before e one by one. To look up many elements, use
// [Set.Entries].
func (s Set) Get(e Element) (member bool, sub Set) {
	order, steps := orderOf(e.kind, e.text), 0
	// The loop passes each sibling and all nodes below it by skip. It compares order numbers, and
	// compares texts only if the numbers are equal.
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

// Leaves returns the members that have no members below them.
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

// All yields the members with one element first. Then it yields, for each element in order, the
// members below it by the same rule. The caller owns the yielded paths.
func (s Set) All() iter.Seq[Path] {
	return func(yield func(Path) bool) { s.all(nil, yield) }
}

// all is All for a set whose members lie below prefix. It returns false after yield returned false.
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

// appendElement returns a new path: prefix with e appended.
func appendElement(prefix Path, e Element) Path {
	p := make(Path, len(prefix)+1)
	copy(p, prefix)
	p[len(prefix)] = e
	return p
}

// Entry is the part of a set at one element. Member says whether the path of that element alone is a
// member. Sub has the members below it, without the element in front.
type Entry struct {
	Element Element
	Member  bool
	Sub     Set
}

// Entries yields one [Entry] for each element that begins a member, in order.
func (s Set) Entries() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for c := s.cursor(); !c.done(); c.next() {
			if !yield(c.entry()) {
				return
			}
		}
	}
}

// width returns the number of trees in nodes. Cost: one step for each tree.
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

// cursor is a position among the entries of a set.
type cursor struct {
	texts texts
	rest  []node // the current entry and all after it
}

// cursor returns a cursor at the first entry.
func (s Set) cursor() cursor { return cursor{s.texts, s.nodes} }

// done reports whether the cursor is past the last entry.
func (c *cursor) done() bool { return len(c.rest) == 0 }

// entry returns the current entry. The cursor must not be done.
func (c *cursor) entry() Entry {
	n := &c.rest[0]
	return Entry{n.element(&c.texts), n.has(included), setOf(c.texts, c.rest[1:n.skip:n.skip])}
}

// next moves the cursor to the next entry. The cursor must not be done.
func (c *cursor) next() { c.rest = c.rest[c.rest[0].skip:] }
