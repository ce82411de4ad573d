package fieldpath

// Expect makes [Builder.Set] return like itself if it is the set that is built; then building costs no memory. b must be empty.
func (b *Builder) Expect(like Set) {
	b.like, b.next = like, 0
	b.open = append(b.open[:0], frame{last: uint32(len(like.nodes))})
}

// enterExpected carries out Enter if a set is expected. Otherwise b is settled, and it reports false. Nothing that is entered is
// unexpected yet: it may come to nothing.
func (b *Builder) enterExpected(e Element) bool {
	if b.like.IsEmpty() {
		b.settle()
		return false
	}
	if n := b.expected(e); n != nil {
		b.open = append(b.open, frame{index: uint32(b.next), last: uint32(b.next) + n.skip})
		b.next++
	} else {
		b.waiting = append(b.waiting, e)
	}
	return true
}

// leafExpected carries out Leaf if that is as expected. Otherwise b is settled, and it reports false.
func (b *Builder) leafExpected(e Element) bool {
	if n := b.expected(e); n != nil && n.skip == 1 {
		b.next++
		return true
	}
	b.settle()
	return false
}

// expected returns the next node of like if that is a child of the current path and has the element e.
func (b *Builder) expected(e Element) *node {
	if b.like.IsEmpty() || b.next == int(b.current().last) || len(b.waiting) > 0 {
		return nil
	}
	if n := &b.like.nodes[b.next]; n.kind() == e.kind && n.in(&b.like.texts) == e.text {
		return n
	}
	return nil
}

// leaveExpected carries out Leave if that is as expected. Otherwise b is settled, and it reports false.
func (b *Builder) leaveExpected(member bool) bool {
	if n := len(b.waiting); n > 0 && !member {
		b.waiting[n-1] = Element{}
		b.waiting = b.waiting[:n-1]
		return true
	}
	if !b.like.IsEmpty() && len(b.waiting) == 0 && len(b.open) > 1 {
		if f := b.current(); b.next == int(f.last) && b.like.nodes[f.index].has(included) == member {
			b.open = b.open[:len(b.open)-1]
			return true
		}
	}
	b.settle()
	return false
}

// depart makes a draft of the nodes of like that have been built, because from here on the set is another one.
func (b *Builder) depart() {
	b.draft.addTrees(Set{b.like.texts, b.like.nodes[:b.next]})
	b.like = Set{}
	first := 0
	for i := range b.open {
		f, end := &b.open[i], b.next
		if i+1 < len(b.open) {
			end = int(b.open[i+1].index)
			b.draft.nodes[end].unset(included)
		}
		f.last = 0
		for child := first; child < end; child += int(b.draft.nodes[child].skip) {
			f.last, f.order = uint32(child+1), b.draft.nodes[child].order()
		}
		first = end + 1
	}
	for _, e := range b.waiting {
		b.push(e)
	}
	clear(b.waiting)
	b.waiting = b.waiting[:0]
}
