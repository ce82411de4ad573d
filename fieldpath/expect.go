package fieldpath

// Most writes leave each manager the fields that it had. The walks that find fields then build a
// set that is known already. A Builder that expects this set compares each node with it. While the
// nodes are the same, the Builder writes nothing, and in the end it returns the known set itself.

// expect makes [Builder.Set] return s itself if b builds a set equal to s. Building then takes no
// memory for a new set. b must be empty.
//
// While the nodes that are built are the first nodes of s, b only counts them. If s is .a.b .a.c
// .d:
//
//	enter(a)      next 1    in a
//	leaf(b)       next 2
//	enter(x)      next 2    waiting x: s has no such node, but x may stay empty
//	leave(false)  next 2    x stayed empty and is dropped
//	leaf(c)       next 3
//	leave(false)  next 3    as in s: .a is no member, and all of its children are built
//	leaf(e)       depart    s has .d here: from now on b writes a draft, which begins with
//	                        the nodes in front of .d
//
// Invariants while a set is expected:
//
//	expected.nodes[:next] are the nodes that are built, except waiting.
//	open[k].index is the node of element k of the path, and open[k].last the end of its tree,
//	both in expected.
//	waiting is empty when a node is built: to build below a waiting element is to depart.
func (b *Builder) expect(s Set) {
	b.expected, b.next = s, 0
	b.open = append(b.open[:0], frame{last: uint32(len(s.nodes))})
}

// enterExpected carries out enter if a set is expected. Otherwise it settles b and returns false.
// To enter an element that the set lacks is no departure yet, because the element may stay empty.
func (b *Builder) enterExpected(e Element) bool {
	if b.expected.IsEmpty() {
		b.settle()
		return false
	}
	if n := b.expectedNode(e); n != nil {
		b.open = append(b.open, frame{index: uint32(b.next), last: uint32(b.next) + n.skip})
		b.next++
	} else {
		b.waiting = append(b.waiting, e)
	}
	return true
}

// leafExpected carries out leaf if the next node of the expected set is this leaf. Otherwise it
// settles b and returns false.
func (b *Builder) leafExpected(e Element) bool {
	if n := b.expectedNode(e); n != nil && n.skip == 1 {
		b.next++
		return true
	}
	b.settle()
	return false
}

// expectedNode returns the next node of the expected set if it is a child of the current path with
// the element e. Otherwise it returns nil.
func (b *Builder) expectedNode(e Element) *node {
	if b.expected.IsEmpty() || b.next == int(b.current().last) || len(b.waiting) > 0 {
		return nil
	}
	if n := &b.expected.nodes[b.next]; n.kind() == e.kind && n.in(&b.expected.texts) == e.text {
		return n
	}
	return nil
}

// leaveExpected carries out leave if the expected set has the same node. Otherwise it settles b and
// returns false.
func (b *Builder) leaveExpected(member bool) bool {
	// Nothing was built below the last waiting element, and it is no member: it is dropped.
	if n := len(b.waiting); n > 0 && !member {
		b.waiting[n-1] = Element{}
		b.waiting = b.waiting[:n-1]
		return true
	}
	if !b.expected.IsEmpty() && len(b.waiting) == 0 && len(b.open) > 1 {
		// All children are built, and the node is a member exactly if the expected set has it as a
		// member.
		if f := b.current(); b.next == int(f.last) && b.expected.nodes[f.index].has(included) == member {
			b.open = b.open[:len(b.open)-1]
			return true
		}
	}
	b.settle()
	return false
}

// depart copies the nodes of the expected set that are built to the draft, because from here on the
// set differs.
func (b *Builder) depart() {
	b.draft.addTrees(Set{b.expected.texts, b.expected.nodes[:b.next]})
	b.expected = Set{}
	first := 0
	for i := range b.open {
		f, end := &b.open[i], b.next
		if i+1 < len(b.open) {
			end = int(b.open[i+1].index)
			b.draft.nodes[end].unset(included)
		}
		// The node stays open. Its last closed child is the last one in front of its open child.
		// The frame gets that child and its order, as in closed.
		f.last = 0
		for child := first; child < end; child += int(b.draft.nodes[child].skip) {
			f.last, f.order = uint32(child+1), b.draft.nodes[child].order()
		}
		first = end + 1
	}
	// The waiting elements become nodes, because a node is built below them.
	for _, e := range b.waiting {
		b.push(e)
	}
	clear(b.waiting)
	b.waiting = b.waiting[:0]
}
