package fieldpath

// How a Builder makes a set by a walk of the tree of its paths, here .a.b and .c.d:
//
//	enter(a)      nodes  a
//	leaf(b)       nodes  a b
//	leave(false)  nodes  a b         a is no member, but has one below it: it stays
//	enter(c)      nodes  a b c
//	enter(d)      nodes  a b c d
//	leave(true)   nodes  a b c d     d is a member
//	leave(false)  nodes  a b c d
//
// Cost: one step for each call, and n log n at the end if siblings were not added in order.

// Builder makes a [Set]. The zero Builder is ready to use. The nil Builder is empty.
//
// The work is linear if paths are added in ascending order. Another order, or adding a path again,
// gives the same result. Walks of this module do not make paths. enter goes to an element below the
// current path. leave goes back, and says whether the path that is left is a member.
type Builder struct {
	draft draft
	open  []frame // the root, which is no node, and the open nodes below it; empty before the first node
	added int     // number of frames at the end of open that Add opened

	// While the nodes that are built are the first nodes of the expected set, the draft is empty.
	expected Set       // empty if no set is expected, or if another node was built
	next     int       // number of its nodes that have been built
	waiting  []Element // entered elements that expected lacks, each below the one before; dropped if nothing is built there
}

// frame is the state of an open node. For a node n with the closed children b and d and the open
// child e:
//
//	nodes   … n b … d … e
//	frame   index of n, last: index of d + 1, order of d
//
// Invariants:
//
//	open[k+1].index > open[k].index: the open nodes are a path
//	the skip of an open node is not set yet; the skip of a closed node is
//	!unsorted: the closed children are strictly ascending, so set need not arrange them
type frame struct {
	index    uint32 // of the node in draft.nodes
	last     uint32 // index of its last closed child plus 1; 0 if there is none
	order    uint32 // of that child
	unsorted bool   // closed children are not strictly ascending
}

// enter goes to the path of e below the current path.
func (b *Builder) enter(e Element) {
	if b.busy() && b.enterExpected(e) {
		return
	}
	b.push(e)
}

// leave goes back from the path last entered. That path is a member if member is true, or if it was
// added as a member before. leave drops a path that is no member and has no members below it. It
// panics if no path is entered.
func (b *Builder) leave(member bool) {
	if b.busy() && b.leaveExpected(member) {
		return
	}
	if len(b.open) < 2 {
		panic("fieldpath: Builder.Leave without Enter")
	}
	if member {
		b.node().set(included)
	}
	b.pop()
}

// leaf does the same as enter(e) and leave(true).
func (b *Builder) leaf(e Element) {
	if b.busy() && b.leafExpected(e) {
		return
	}
	b.draft.add(e.kind, e.text, included)
	b.closed(len(b.draft.nodes) - 1)
}

// Add makes p a member. The empty path changes nothing. If a path is entered, p lies below it. Add
// leaves p open for the next path, so that paths in ascending order need no search. Add to a nil
// Builder panics, as an assignment to a nil map does.
func (b *Builder) Add(p Path) {
	if len(p) == 0 {
		return
	}
	if b == nil {
		panic("fieldpath: Add to a nil Builder")
	}
	if !b.expected.IsEmpty() {
		b.settle()
	}
	// shared is the number of elements that p has in common with the open path. The nodes below
	// these are closed, and the rest of p is opened.
	shared := 0
	base := len(b.open) - b.added
	for shared < b.added && shared < len(p) && b.draft.is(int(b.open[base+shared].index), p[shared]) {
		shared++
	}
	b.comeBack(shared)
	for _, e := range p[shared:] {
		b.push(e)
		b.added++
	}
	b.node().set(included)
}

// comeBack closes the nodes that Add opened, except the first ones. shared is their number.
func (b *Builder) comeBack(shared int) {
	for ; b.added > shared; b.added-- {
		b.pop()
	}
}

// addSet adds all members of s below the current path. As in Add, the path above them stays open.
// A set of one label then adds one node, if a label came before.
func (b *Builder) addSet(s Set) {
	if !b.expected.IsEmpty() {
		b.settle()
	}
	s = b.descend(s)
	start := len(b.draft.nodes)
	b.draft.addTrees(s)
	for i := start; i < len(b.draft.nodes); i += int(b.draft.nodes[i].skip) {
		b.closed(i)
	}
}

// descend opens the root of s while s is one tree with nodes below its root. It returns the set of
// the nodes below the last root that it opened.
func (b *Builder) descend(s Set) Set {
	b.current()
	base, depth := len(b.open)-b.added, 0
	for len(s.nodes) > 1 && int(s.nodes[0].skip) == len(s.nodes) {
		n := &s.nodes[0]
		if e := n.element(&s.texts); depth == b.added || !b.draft.is(int(b.open[base+depth].index), e) {
			b.comeBack(depth)
			b.push(e)
			b.added++
		}
		if n.has(included) {
			b.draft.nodes[b.open[base+depth].index].set(included)
		}
		depth++
		s.nodes = s.nodes[1:]
	}
	b.comeBack(depth)
	return s
}

// includeAll makes every path above a member a member, too. No path may be entered, and no set
// expected.
func (b *Builder) includeAll() {
	for i := range b.draft.nodes {
		b.draft.nodes[i].set(included)
	}
}

// Set returns the set of all members. The Builder is empty afterwards, and its later use does not
// change the set. Set panics if a path was entered and not left.
func (b *Builder) Set() Set { return b.setWithout(Set{}) }

// setWithout is Set().Minus(except). It copies what is left only once.
func (b *Builder) setWithout(except Set) Set {
	if b == nil {
		return Set{}
	}
	if b.next < len(b.expected.nodes) || b.added > 0 {
		b.settle()
	}
	if len(b.open) > 1 || len(b.waiting) > 0 {
		panic("fieldpath: Builder.Set before Leave")
	}
	s := b.expected
	if s.IsEmpty() {
		if b.current().unsorted {
			b.draft.untidyBelow(0)
		}
		s = b.draft.set(unite, except)
		b.draft.reset()
	} else {
		s, b.expected = s.Minus(except), Set{}
	}
	b.open = b.open[:0]
	return s
}

// settle closes the nodes that Add opened, and moves expected nodes that are built to the draft.
func (b *Builder) settle() {
	b.comeBack(0)
	if !b.expected.IsEmpty() {
		b.depart()
	}
}

// busy reports whether settle may have work to do. If not, enter, leave and leaf take the short
// way.
func (b *Builder) busy() bool { return b.added|len(b.expected.nodes) != 0 }

// current returns the frame of the current path.
func (b *Builder) current() *frame {
	if len(b.open) == 0 {
		b.open = append(b.open, frame{})
	}
	return &b.open[len(b.open)-1]
}

// node returns the node of the current path.
func (b *Builder) node() *node { return &b.draft.nodes[b.open[len(b.open)-1].index] }

// closed records that the complete node at index is a child of the current path.
func (b *Builder) closed(index int) {
	f, order := b.current(), b.draft.nodes[index].order()
	// Siblings that do not ascend, or occur again, are sorted when the set is complete.
	if f.last > 0 && order <= f.order && !b.draft.ascend(int(f.last-1), index) {
		f.unsorted = true
	}
	f.last, f.order = uint32(index+1), order
}

// push appends a node for e, which is open until pop.
func (b *Builder) push(e Element) {
	b.current() // makes the frame of the root if there is none
	b.open = append(b.open, frame{index: uint32(len(b.draft.nodes))})
	b.draft.add(e.kind, e.text, 0)
}

// pop closes the last open node.
func (b *Builder) pop() {
	f := &b.open[len(b.open)-1]
	b.open = b.open[:len(b.open)-1]
	index := int(f.index)
	if f.unsorted {
		b.draft.untidyBelow(index + 1)
	}
	n := &b.draft.nodes[index]
	n.skip = uint32(len(b.draft.nodes) - index)
	// The node is no member and has no nodes below it: it is removed.
	if n.skip == 1 && !n.has(included) {
		b.draft.drop(index)
		return
	}
	b.closed(index)
}
