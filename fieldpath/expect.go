package fieldpath

// Expect makes [Builder.Set] return like itself if it is the set that is built; then building costs no memory. b must be empty.
func (b *Builder) Expect(like Set) {
	b.like, b.next = like, 0
	b.open.end = uint32(len(like.nodes))
}

// expected returns the next node of like if that is a child of the current path and has the element e.
func (b *Builder) expected(e Element) *node {
	if b.next == int(b.open.end) || len(b.waiting) > 0 {
		return nil
	}
	if n := &b.like.nodes[b.next]; n.kind() == e.kind && n.in(&b.like.texts) == e.text {
		return n
	}
	return nil
}

// leaveExpected is Leave if the path left is as expected. If not, it departs and reports false.
func (b *Builder) leaveExpected(member bool) bool {
	if n := len(b.waiting); n > 0 && !member {
		b.waiting[n-1] = Element{}
		b.waiting = b.waiting[:n-1]
		return true
	}
	if len(b.waiting) == 0 && len(b.above) > 0 && b.next == int(b.open.end) && b.like.nodes[b.open.index].has(included) == member {
		b.up()
		return true
	}
	b.depart()
	return false
}

// depart makes a draft of the nodes of like that have been built, because from here on the set is another one.
func (b *Builder) depart() {
	if b.like.IsEmpty() {
		return
	}
	b.draft.addTrees(Set{b.like.texts, b.like.nodes[:b.next]})
	b.like = Set{}
	first, open := 0, append(b.above, b.open)
	for i := range open {
		f, end := &open[i], b.next
		if i+1 < len(open) {
			end = int(open[i+1].index)
			b.draft.nodes[end].unset(included)
		}
		for child := first; child < end; child += int(b.draft.nodes[child].skip) {
			f.last, f.order = uint32(child+1), b.draft.nodes[child].order()
		}
		first = end + 1
	}
	b.above, b.open = open[:len(open)-1], open[len(open)-1]
	for _, e := range b.waiting {
		b.push(e)
	}
	clear(b.waiting)
	b.waiting = b.waiting[:0]
}
