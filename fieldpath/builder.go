package fieldpath

import "slices"

// Builder makes a [Set]. The zero Builder is ready.
//
// It walks the tree of paths: Enter goes to an element below the current path, Leave comes back and says whether the path
// left is a member. Work is linear when the elements below a path come in ascending order; in any other order, and if an
// element comes again, the result is the same. Add inserts a single path below the current one.
type Builder struct {
	nodes []node  // in preorder; the skip of a node that is open is not set yet
	open  []frame // the nodes that are open, outermost first
	top   frame   // of the nodes without parent
	added int     // how many of open, the last ones, were opened by Add
}

// frame is what a Builder knows of an open node.
type frame struct {
	index    int  // of the node in nodes
	last     int  // index of its last child that is closed, one higher; 0 if there is none
	unsorted bool // children are not strictly ascending
}

// Enter goes to the path of e below the current path.
func (b *Builder) Enter(e Element) {
	b.closeAdded()
	b.push(e)
}

// Leave comes back from the path last entered, which is a member if member says so or if it came before as a member. A path
// that is no member and has none below is dropped. Leave panics when no path is entered.
func (b *Builder) Leave(member bool) {
	b.closeAdded()
	b.nodes[b.open[len(b.open)-1].index].member = member
	b.pop()
}

// Leaf is Enter(e) and Leave(true).
func (b *Builder) Leaf(e Element) {
	b.closeAdded()
	b.nodes = append(b.nodes, node{e.text, 1, e.kind, true})
	b.closed(len(b.nodes) - 1)
}

// Add makes the path p below the current path a member; the empty path changes nothing. The path stays open for what is
// added next, so that paths in ascending order need no search.
func (b *Builder) Add(p Path) {
	if len(p) == 0 {
		return
	}
	base := len(b.open) - b.added
	shared := 0
	for shared < b.added && shared < len(p) && b.nodes[b.open[base+shared].index].is(p[shared]) {
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
	b.nodes[b.open[len(b.open)-1].index].member = true
}

// AddSet makes all members of s, put below the current path, members.
func (b *Builder) AddSet(s Set) {
	b.closeAdded()
	if s.IsEmpty() {
		return
	}
	start := len(b.nodes)
	b.nodes = append(b.nodes, s.nodes...)
	b.closed(start)
	last := start
	for i := start; i < len(b.nodes); i += int(b.nodes[i].skip) {
		last = i
	}
	b.parent().last = last + 1
}

// Set returns the set of all members. The Builder is then empty again; what it makes later does not change the set. Set
// panics when a path is entered that was not left.
func (b *Builder) Set() Set {
	b.closeAdded()
	if len(b.open) > 0 {
		panic("fieldpath: Builder.Set before Leave")
	}
	if b.top.unsorted {
		b.nodes = sortSiblings(b.nodes, 0, unite)
	}
	s := setOf(slices.Clone(b.nodes))
	b.nodes = recycle(b.nodes)
	b.top = frame{}
	return s
}

// parent returns the frame of the current path.
func (b *Builder) parent() *frame {
	if len(b.open) == 0 {
		return &b.top
	}
	return &b.open[len(b.open)-1]
}

// closed notes that the node at index, which is complete, is a child of the current path.
func (b *Builder) closed(index int) {
	f := b.parent()
	if f.last > 0 && compareNodes(&b.nodes[f.last-1], &b.nodes[index]) >= 0 {
		f.unsorted = true
	}
	f.last = index + 1
}

func (b *Builder) push(e Element) {
	b.open = append(b.open, frame{index: len(b.nodes)})
	b.nodes = append(b.nodes, node{text: e.text, kind: e.kind})
}

// pop closes the last open node.
func (b *Builder) pop() {
	f := b.open[len(b.open)-1]
	b.open = b.open[:len(b.open)-1]
	if f.unsorted {
		b.nodes = sortSiblings(b.nodes, f.index+1, unite)
	}
	n := &b.nodes[f.index]
	n.skip = uint32(len(b.nodes) - f.index)
	if n.skip == 1 && !n.member {
		b.nodes = b.nodes[:f.index]
		return
	}
	b.closed(f.index)
}

func (b *Builder) closeAdded() {
	for ; b.added > 0; b.added-- {
		b.pop()
	}
}

// unite and replace say what is below an element that comes twice among siblings: what is below either, or what is below
// the last that has anything below it.
func unite(first, second []node) []node { return Set{first}.Union(Set{second}).nodes }

func replace(first, second []node) []node {
	if len(second) == 0 {
		return first
	}
	return second
}

// sortSiblings puts the sibling trees that nodes has from start on into order and makes one of those that are equal: a
// member if one of them is, with what below says below it. It returns nodes, which it shortens then.
func sortSiblings(nodes []node, start int, below func(first, second []node) []node) []node {
	var buf [16][]node
	trees := buf[:0]
	for rest := nodes[start:]; len(rest) > 0; rest = rest[rest[0].skip:] {
		trees = append(trees, rest[:rest[0].skip])
	}
	slices.SortStableFunc(trees, func(a, b []node) int { return compareNodes(&a[0], &b[0]) })
	sorted := make([]node, 0, len(nodes)-start)
	for i := 0; i < len(trees); {
		root := len(sorted)
		sorted = append(sorted, trees[i][0])
		children := trees[i][1:]
		for i++; i < len(trees) && compareNodes(&trees[i][0], &sorted[root]) == 0; i++ {
			sorted[root].member = sorted[root].member || trees[i][0].member
			children = below(children, trees[i][1:])
		}
		sorted = append(sorted, children...)
		sorted[root].skip = uint32(len(sorted) - root)
	}
	return append(nodes[:start], sorted...)
}
