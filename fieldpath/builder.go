package fieldpath

// Building a set by a walk of the tree of its paths. Of .a.b and .c.d:
//
//	enter(a)      nodes  a
//	leaf(b)       nodes  a b
//	leave(false)  nodes  a b         a is no member, but has one below it: it stays
//	enter(c)      nodes  a b c
//	enter(d)      nodes  a b c d
//	leave(true)   nodes  a b c d     d is a member
//	leave(false)  nodes  a b c d
//
// Cost: one step for each call, and n log n at the end if siblings did not come in order.

// Builder makes a [Set]. The zero Builder is ready. The nil Builder is empty.
//
// Work is linear when paths come in ascending order; in any other order, and if a path comes again,
// the result is the same. Walks of this module do not make paths, but build along the tree of them:
// enter goes to an element below the current path, leave comes back and says whether the path left
// is a member.
type Builder struct {
	draft draft
	open  []frame // the root, which is no node, and below it the nodes that are open; none as long as there is no node
	added int     // how many of open, the last ones, were opened by Add

	// As long as all that is built is what is expected, it is not in draft, but is the first nodes
	// of the expected set.
	expected Set       // empty if nothing is expected, or if something else has come
	next     int       // how many of its nodes have been built
	waiting  []Element // entered below that, one below the other, and not expected; they are dropped if nothing comes
}

// frame is what a Builder knows of an open node. Of a node whose children b and d are closed, and
// whose child e is open:
//
//	nodes   … n b … d … e
//	frame   index of n, last: index of d + 1, order of d
//
// Invariants:
//
//	open[k+1].index > open[k].index: the nodes of open are a path
//	nodes[open[k].index].skip is not set yet; that of every node that is closed is
//	!unsorted: the children that are closed are strictly ascending, so set need not arrange them
type frame struct {
	index    uint32 // of the node in nodes
	last     uint32 // index of its last child that is closed, one higher; 0 if there is none
	order    uint32 // of that child
	unsorted bool   // children are not strictly ascending
}

// enter goes to the path of e below the current path.
func (b *Builder) enter(e Element) {
	if b.busy() && b.enterExpected(e) {
		return
	}
	b.push(e)
}

// leave comes back from the path last entered, which is a member if member says so or if it came
// before as a member. A path that is no member and has none below is dropped. It panics when no path
// is entered.
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

// leaf is enter(e) and leave(true).
func (b *Builder) leaf(e Element) {
	if b.busy() && b.leafExpected(e) {
		return
	}
	b.draft.add(e.kind, e.text, included)
	b.closed(len(b.draft.nodes) - 1)
}

// Add makes p a member; the empty path changes nothing. Where something is entered, p lies below
// the current path. The path stays open for what is added next, so that paths in ascending order
// need no search. To add to a nil Builder panics, as an assignment to an entry of a nil map does.
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
	// How many elements p has in common with the path that is open: what is behind these is closed,
	// and then opened as p goes on.
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

// comeBack closes what Add opened, but for the first so many elements.
func (b *Builder) comeBack(shared int) {
	for ; b.added > shared; b.added-- {
		b.pop()
	}
}

// addSet makes all members of s, put below the current path, members. As with Add, the path above
// them stays open for what is added next: a set of one label adds one node, if a label came before.
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

// descend goes down as long as s is one tree with something below its root, and returns what is
// below there.
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

// includeAll makes every path above a member a member, too. Nothing may be entered or expected.
func (b *Builder) includeAll() {
	for i := range b.draft.nodes {
		b.draft.nodes[i].set(included)
	}
}

// Set returns the set of all members. The Builder is then empty again; what it makes later does not
// change the set. Set panics when a path is entered that was not left.
func (b *Builder) Set() Set {
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
		s = b.draft.set(unite)
		b.draft.reset()
	} else {
		b.expected = Set{}
	}
	b.open = b.open[:0]
	return s
}

// settle closes what Add opened, and makes a draft of what was expected.
func (b *Builder) settle() {
	b.comeBack(0)
	if !b.expected.IsEmpty() {
		b.depart()
	}
}

// busy reports whether there is something to settle before enter, leave and leaf can go the short
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

// closed notes that the node at index, which is complete, is a child of the current path.
func (b *Builder) closed(index int) {
	f, order := b.current(), b.draft.nodes[index].order()
	// Siblings that do not ascend, or come again, are put into order when the set is complete.
	if f.last > 0 && order <= f.order && !b.draft.ascend(int(f.last-1), index) {
		f.unsorted = true
	}
	f.last, f.order = uint32(index+1), order
}

// push goes to e, of which nothing is known yet: its node is open until pop.
func (b *Builder) push(e Element) {
	b.current() // that of the root is there, too
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
	// No member, and nothing below it: the node is taken back.
	if n.skip == 1 && !n.has(included) {
		b.draft.drop(index)
		return
	}
	b.closed(index)
}
