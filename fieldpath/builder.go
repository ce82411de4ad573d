package fieldpath

// Builder makes a [Set]. The zero Builder is ready.
//
// It walks the tree of paths: Enter goes to an element below the current path, Leave comes back and says whether the path
// left is a member. Work is linear when the elements below a path come in ascending order; in any other order, and if an
// element comes again, the result is the same. Add inserts a single path below the current one.
type Builder struct {
	draft draft
	open  frame   // of the current path
	above []frame // of what stands above it, outermost first: that of the root, which is no node, and of nodes
	added int     // how many frames, the last ones, were opened by Add

	// As long as all that is built is what was expected, it is not in draft, but is the first nodes of like.
	like    Set       // no set if nothing is expected, or if something else has come
	next    int       // how many of its nodes have been built
	waiting []Element // entered below that, one below the other, and not in like; they are dropped if nothing comes
}

// frame is what a Builder knows of an open node.
type frame struct {
	index    uint32 // of the node in nodes
	end      uint32 // of the tree below the node, if it is one of like
	last     uint32 // index of its last child that is closed, one higher; 0 if there is none
	order    uint32 // of that child
	unsorted bool   // children are not strictly ascending
}

// Enter goes to the path of e below the current path.
func (b *Builder) Enter(e Element) {
	if !b.like.IsEmpty() {
		if n := b.expected(e); n != nil {
			b.above = append(b.above, b.open)
			b.open = frame{index: uint32(b.next), end: uint32(b.next) + n.skip}
			b.next++
		} else {
			b.waiting = append(b.waiting, e)
		}
		return
	}
	b.closeAdded()
	b.push(e)
}

// Leave comes back from the path last entered, which is a member if member says so or if it came before as a member. A path
// that is no member and has none below is dropped. Leave panics when no path is entered.
func (b *Builder) Leave(member bool) {
	if !b.like.IsEmpty() && b.leaveExpected(member) {
		return
	}
	b.closeAdded()
	if member {
		b.current().set(included)
	}
	b.pop()
}

// Leaf is Enter(e) and Leave(true).
func (b *Builder) Leaf(e Element) {
	if !b.like.IsEmpty() {
		if n := b.expected(e); n != nil && n.skip == 1 {
			b.next++
			return
		}
		b.depart()
	}
	b.closeAdded()
	b.draft.add(e.kind, e.text, included)
	b.closed(len(b.draft.nodes) - 1)
}

// Add makes the path p below the current path a member; the empty path changes nothing. The path stays open for what is
// added next, so that paths in ascending order need no search.
func (b *Builder) Add(p Path) {
	if len(p) == 0 {
		return
	}
	b.depart()
	shared := 0
	for shared < b.added && shared < len(p) && b.draft.is(int(b.addedAt(shared).index), p[shared]) {
		shared++
	}
	for b.added > shared {
		b.pop()
		b.added--
	}
	for _, e := range p[shared:] {
		b.push(e)
		b.added++
	}
	b.current().set(included)
}

// AddSet makes all members of s, put below the current path, members.
func (b *Builder) AddSet(s Set) {
	b.depart()
	b.closeAdded()
	if s.IsEmpty() {
		return
	}
	start := len(b.draft.nodes)
	b.draft.addTrees(s)
	b.closed(start)
	last := start
	for i := start; i < len(b.draft.nodes); i += int(b.draft.nodes[i].skip) {
		last = i
	}
	b.note(last)
}

// Set returns the set of all members. The Builder is then empty again; what it makes later does not change the set. Set
// panics when a path is entered that was not left.
func (b *Builder) Set() Set {
	b.closeAdded()
	if len(b.above)+len(b.waiting) > 0 {
		panic("fieldpath: Builder.Set before Leave")
	}
	s := b.like
	if s.IsEmpty() || b.next < len(s.nodes) {
		b.depart()
		if b.open.unsorted {
			b.draft.sortSiblings(0, unite)
		}
		s = b.draft.set()
		b.draft.reset()
	}
	b.open, b.like = frame{}, Set{}
	return s
}

// closed notes that the node at index, which is complete, is a child of the current path.
func (b *Builder) closed(index int) {
	if f := &b.open; f.last > 0 && b.draft.nodes[index].order() <= f.order && !b.draft.ascend(int(f.last-1), index) {
		f.unsorted = true
	}
	b.note(index)
}

// note makes the node at index the last child of the current path.
func (b *Builder) note(index int) {
	b.open.last, b.open.order = uint32(index+1), b.draft.nodes[index].order()
}

// current returns the node that was opened last.
func (b *Builder) current() *node { return &b.draft.nodes[b.open.index] }

// addedAt returns the frame number i of those that were opened by Add.
func (b *Builder) addedAt(i int) *frame {
	if i == b.added-1 {
		return &b.open
	}
	return &b.above[len(b.above)-b.added+1+i]
}

func (b *Builder) push(e Element) {
	b.above = append(b.above, b.open)
	b.open = frame{index: uint32(len(b.draft.nodes))}
	b.draft.add(e.kind, e.text, 0)
}

// pop closes the last open node. It panics if none is open.
func (b *Builder) pop() {
	f := b.open
	b.up()
	index := int(f.index)
	if f.unsorted {
		b.draft.sortSiblings(index+1, unite)
	}
	n := &b.draft.nodes[index]
	n.skip = uint32(len(b.draft.nodes) - index)
	if n.skip == 1 && !n.has(included) {
		b.draft.drop(index)
		return
	}
	b.closed(index)
}

// up makes the path above the current one current.
func (b *Builder) up() {
	b.open = b.above[len(b.above)-1]
	b.above = b.above[:len(b.above)-1]
}

func (b *Builder) closeAdded() {
	for ; b.added > 0; b.added-- {
		b.pop()
	}
}
