package fieldpath

import "slices"

// Siblings may come in any order, and again. While a set is read or built they stay as they come,
// and arrange puts all of them into order at the end:
//
//	came      b{d c} a{e} b{c}
//	nodes     b d c a e b c        untidy: the root, and the first b
//	arranged  a e b c d
//
// Why not level by level: an object within an object is moved with everything below it, so that a
// text whose author sorts no level costs its length times its depth.
//
// Invariants:
//
//	a node is copied at most once, and only below an untidy one is anything looked at
//	arranged siblings are strictly ascending
//	a path is a member if it was one anywhere

// below says what is below an element that comes again among siblings.
type below bool

const (
	unite   below = true  // all that is below any of them
	replace below = false // what is below the last that has anything below it
)

// untidyBelow notes that siblings, the first of which is the node at first, are not strictly
// ascending.
func (d *draft) untidyBelow(first int) { d.untidy = append(d.untidy, uint64(first)) }

// arrange puts all siblings into order, and makes one of those that are equal.
//
// Cost: n log n for n nodes; nothing if no siblings are untidy.
func (d *draft) arrange(how below) {
	if len(d.untidy) == 0 {
		return
	}
	slices.Sort(d.untidy)
	// From here on every node is copied once, in its place.
	a := arrangement{draft: d, how: how, out: make([]node, 0, len(d.nodes))}
	a.siblings(0, len(d.nodes))
	d.nodes = append(d.nodes[:0], a.out...)
	d.untidy = d.untidy[:0]
}

// arrangement is a draft that is being arranged.
type arrangement struct {
	*draft
	how   below
	out   []node
	trees []uint32 // where the trees begin that are being sorted, those of the innermost level last
}

// siblings arranges the trees at nodes[from:to], which have one parent.
func (a *arrangement) siblings(from, to int) {
	i, untidy := slices.BinarySearch(a.untidy, uint64(from))
	switch {
	// These siblings are out of order, and perhaps those below them: they are sorted.
	case untidy:
		first := len(a.trees)
		a.push(from, to)
		a.sorted(first)
	// Their order is right, but something below one of them is not.
	case i < len(a.untidy) && int(a.untidy[i]) < to:
		for ; from < to; from += int(a.nodes[from].skip) {
			root := a.root(from)
			a.siblings(from+1, from+int(a.nodes[from].skip))
			a.close(root)
		}
	// Nothing in here is out of order: it is copied as it is.
	default:
		a.out = append(a.out, a.nodes[from:to]...)
	}
}

// push adds the trees at nodes[from:to] to those that are being sorted.
func (a *arrangement) push(from, to int) {
	for ; from < to; from += int(a.nodes[from].skip) {
		a.trees = append(a.trees, uint32(from))
	}
}

// root appends the root of the tree at index, and returns where it is. It is open until what is
// below it has been appended.
func (a *arrangement) root(index int) int {
	a.out = append(a.out, a.nodes[index])
	return len(a.out) - 1
}

// close ends the tree whose root is there.
func (a *arrangement) close(root int) { a.out[root].skip = uint32(len(a.out) - root) }

// sorted arranges the trees from first on, the last ones, which have one parent, and takes them
// away.
func (a *arrangement) sorted(first int) {
	trees := a.trees[first:]
	compare := func(i, j uint32) int { return a.compare(&a.nodes[i], &a.nodes[j]) }
	slices.SortStableFunc(trees, compare)
	for len(trees) > 0 {
		same := 1
		for same < len(trees) && compare(trees[0], trees[same]) == 0 {
			same++
		}
		a.one(trees[:same])
		trees = trees[same:]
	}
	a.trees = a.trees[:first]
}

// one makes one tree of trees whose roots are equal.
func (a *arrangement) one(trees []uint32) {
	root := a.root(int(trees[0]))
	inner, first := -1, len(a.trees)
	for _, i := range trees {
		n := &a.nodes[i]
		a.out[root].bits |= n.bits & uint32(included)
		if n.skip > 1 {
			inner = int(i)
		}
		if a.how == unite && len(trees) > 1 {
			a.push(int(i)+1, int(i)+int(n.skip))
		}
	}
	switch {
	// The children of all of them are siblings now, and sorted together.
	case a.how == unite && len(trees) > 1:
		a.sorted(first)
	// The children of the last tree that has any.
	case inner >= 0:
		a.siblings(inner+1, inner+int(a.nodes[inner].skip))
	}
	a.close(root)
}
