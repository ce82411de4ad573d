package fieldpath

import "iter"

// Set is an immutable set of paths. The zero Set is empty.
//
// A path is a member by itself: neither the paths above it nor those below it need be. The empty path never is.
type Set struct {
	texts texts
	// nodes is the tree of all members in preorder. Siblings are strictly ascending, and every node is a member or has
	// children. No node refers to the position of another, so the descendants of a node, a part of nodes, are a Set too.
	nodes []node
}

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
	if s.Same(other) {
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

// Same reports in constant time whether s and other are the same storage or both empty. Same sets are Equal; Equal sets
// need not be the same.
func (s Set) Same(other Set) bool {
	return len(s.nodes) == len(other.nodes) && (len(s.nodes) == 0 || &s.nodes[0] == &other.nodes[0])
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

// HasMember reports whether the path of e alone is a member.
func (s Set) HasMember(e Element) bool {
	found, _ := s.Get(e)
	return found
}

// Sub returns the members below e, without e in front.
func (s Set) Sub(e Element) Set {
	_, sub := s.Get(e)
	return sub
}

// Get reports whether the path of e alone is a member, and returns the members below it, without e in front.
func (s Set) Get(e Element) (member bool, sub Set) {
	c := s.Cursor()
	entry, _ := c.Seek(e)
	return entry.Member, entry.Sub
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

// All yields the members: those of one element first, then, for each element in order, all that are below it, by the same
// rule. Yielded paths belong to the caller.
func (s Set) All() iter.Seq[Path] {
	return func(yield func(Path) bool) { s.all(nil, yield) }
}

func (s Set) all(prefix Path, yield func(Path) bool) bool {
	for c := s.Cursor(); !c.Done(); c.Next() {
		if n := &c.rest[0]; n.has(included) && !yield(appendElement(prefix, n.element(&c.texts))) {
			return false
		}
	}
	for c := s.Cursor(); !c.Done(); c.Next() {
		if e := c.Entry(); !e.Sub.IsEmpty() && !e.Sub.all(appendElement(prefix, e.Element), yield) {
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

// Entry is what a set has at one element: whether the path of that element alone is a member, and the members below it,
// without the element in front.
type Entry struct {
	Element Element
	Member  bool
	Sub     Set
}

// Entries yields what s has at each element that begins a member, in order.
func (s Set) Entries() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for c := s.Cursor(); !c.Done(); c.Next() {
			if !yield(c.Entry()) {
				return
			}
		}
	}
}

// Cursor is a place among the entries of a set, for walking them beside something else that is in order. Copies of a Cursor
// move separately.
type Cursor struct {
	texts texts
	rest  []node // the entry where the cursor stands and all after it
}

// Cursor returns a cursor that stands at the first entry of s.
func (s Set) Cursor() Cursor { return Cursor{s.texts, s.nodes} }

// Done reports whether the cursor is past the last entry.
func (c *Cursor) Done() bool { return len(c.rest) == 0 }

// Entry returns the entry where the cursor stands. It panics when the cursor is done.
func (c *Cursor) Entry() Entry {
	n := &c.rest[0]
	return Entry{n.element(&c.texts), n.has(included), setOf(c.texts, c.rest[1:n.skip:n.skip])}
}

// IsLeaf reports whether there are no members below the entry where the cursor stands. It panics when the cursor is done.
func (c *Cursor) IsLeaf() bool { return c.rest[0].skip == 1 }

// Next moves the cursor to the next entry. It panics when the cursor is done.
func (c *Cursor) Next() { c.rest = c.rest[c.rest[0].skip:] }

// Seek moves the cursor forward to the first entry that is not before e. It returns that entry and true if it is e's, else
// an empty entry and false.
func (c *Cursor) Seek(e Element) (Entry, bool) {
	order := orderOf(e.kind, e.text)
	for len(c.rest) > 0 {
		n := &c.rest[0]
		if o := n.order(); o > order {
			break
		} else if o == order {
			switch text := n.in(&c.texts); {
			case text == e.text:
				return c.Entry(), true
			case text > e.text:
				return Entry{}, false
			}
		}
		c.rest = c.rest[n.skip:]
	}
	return Entry{}, false
}
