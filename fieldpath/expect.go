package fieldpath

// Building what is there already. A write mostly leaves everybody the fields that they had, so the
// walks that find fields build the set that is known, node by node; as long as that is so, nothing
// is written, and in the end the known set itself is returned.

// expect makes [Builder.Set] return s itself if that is the set that is built; then building costs
// no memory. b must be empty.
//
// As long as what is built is the beginning of s, b only counts how far it is. Where s is .a.b .a.c
// .d:
//
//	enter(a)      next 1    in a
//	leaf(b)       next 2
//	enter(x)      next 2    waiting x: s has no such node, but it may come to nothing
//	leave(false)  next 2    it did
//	leaf(c)       next 3
//	leave(false)  next 3    as s has it: .a is no member there, and all of its children have come
//	leaf(e)       depart    s has .d here: from now on b writes a draft, which begins with
//	                        the nodes in front of .d
//
// Invariants while something is expected:
//
//	expected.nodes[:next] is all that is built, but for waiting.
//	open[k].index is the node of the path's element k, and open[k].last where its tree ends,
//	both in expected.
//	waiting is empty when anything is built: who builds below it departs.
func (b *Builder) expect(s Set) {
	b.expected, b.next = s, 0
	b.open = append(b.open[:0], frame{last: uint32(len(s.nodes))})
}

// enterExpected carries out enter if a set is expected. Otherwise b is settled, and it reports
// false. To enter what s does not have is no departure from s yet, for it may come to nothing.
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

// leafExpected carries out leaf if that is as expected. Otherwise b is settled, and it reports
// false.
func (b *Builder) leafExpected(e Element) bool {
	if n := b.expectedNode(e); n != nil && n.skip == 1 {
		b.next++
		return true
	}
	b.settle()
	return false
}

// expectedNode returns the next node of the expected set if that is a child of the current path and
// has the element e.
func (b *Builder) expectedNode(e Element) *node {
	if b.expected.IsEmpty() || b.next == int(b.current().last) || len(b.waiting) > 0 {
		return nil
	}
	if n := &b.expected.nodes[b.next]; n.kind() == e.kind && n.in(&b.expected.texts) == e.text {
		return n
	}
	return nil
}

// leaveExpected carries out leave if that is as expected. Otherwise b is settled, and it reports
// false.
func (b *Builder) leaveExpected(member bool) bool {
	// What was entered and is not in the expected set has come to nothing: it is as if it had not
	// come.
	if n := len(b.waiting); n > 0 && !member {
		b.waiting[n-1] = Element{}
		b.waiting = b.waiting[:n-1]
		return true
	}
	if !b.expected.IsEmpty() && len(b.waiting) == 0 && len(b.open) > 1 {
		// All children have come, and the node is a member exactly if it is one in the expected
		// set.
		if f := b.current(); b.next == int(f.last) && b.expected.nodes[f.index].has(included) == member {
			b.open = b.open[:len(b.open)-1]
			return true
		}
	}
	b.settle()
	return false
}

// depart makes a draft of the nodes of the expected set that have been built, because from here on
// the set is another one.
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
		// Of a node that stays open, the child that was closed last, with its order, as closed
		// would have noted it: it is the last of those in front of the child that is open.
		f.last = 0
		for child := first; child < end; child += int(b.draft.nodes[child].skip) {
			f.last, f.order = uint32(child+1), b.draft.nodes[child].order()
		}
		first = end + 1
	}
	// They are no longer waiting: something is built below them.
	for _, e := range b.waiting {
		b.push(e)
	}
	clear(b.waiting)
	b.waiting = b.waiting[:0]
}
