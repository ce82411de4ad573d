package fieldpath

import "slices"

// Siblings may be added in any order and more than once. While a set is read or built, they stay in
// the order of arrival. At the end, arrange sorts all of them:
//
//	added     b{d c} a{e} b{c}
//	nodes     b d c a e b c        untidy: the children of the root, and those of the first b
//	arranged  a e b c d
//
// To sort level by level would move an object once for each level above it. A text without any
// sorted level would then cost its length times its depth.
//
// Invariants:
//
//	each node is copied to out at most once; trees without untidy siblings are copied as they are
//	arranged siblings are strictly ascending
//	equal siblings become one node, which is a member if one of them was

// below says which children remain of an element that occurs more than once among siblings.
type below bool

const (
	unite   below = true  // the children of all occurrences
	replace below = false // the children of the last occurrence that has any
)

// untidyBelow records that the siblings that begin with the node at first are not strictly
// ascending.
func (d *draft) untidyBelow(first int) { d.untidy = append(d.untidy, uint64(first)) }

// arrange sorts all siblings, and joins equal siblings into one.
//
// Cost: n log n for n nodes; nothing if no siblings are untidy.
func (d *draft) arrange(how below) {
	if len(d.untidy) == 0 {
		return
	}
	slices.Sort(d.untidy)
	// From here on, every node is copied once, to its final place in out.
	a := arrangement{draft: d, how: how, out: make([]node, 0, len(d.nodes))}
	a.siblings(0, len(d.nodes))
	d.nodes = append(d.nodes[:0], a.out...)
	d.untidy = d.untidy[:0]
}

// arrangement is the state of arrange.
type arrangement struct {
	*draft
	how   below
	out   []node
	trees []uint32 // where the trees that are being sorted begin; the innermost level is last
}

// siblings arranges the trees at nodes[from:to], which have one parent.
func (a *arrangement) siblings(from, to int) {
	i, untidy := slices.BinarySearch(a.untidy, uint64(from))
	switch {
	// These siblings are out of order, and nodes below them may be.
	case untidy:
		first := len(a.trees)
		a.push(from, to)
		a.sorted(first)
	// These siblings are in order, but nodes below one of them are not.
	case i < len(a.untidy) && int(a.untidy[i]) < to:
		for ; from < to; from += int(a.nodes[from].skip) {
			root := a.root(from)
			a.siblings(from+1, from+int(a.nodes[from].skip))
			a.close(root)
		}
	// All nodes here are in order: they are copied as they are.
	default:
		a.out = append(a.out, a.nodes[from:to]...)
	}
}

// push adds the trees at nodes[from:to] to a.trees.
func (a *arrangement) push(from, to int) {
	for ; from < to; from += int(a.nodes[from].skip) {
		a.trees = append(a.trees, uint32(from))
	}
}

// root appends the root of the tree at index, and returns its place in out. The tree is open until
// the nodes below the root have been appended.
func (a *arrangement) root(index int) int {
	a.out = append(a.out, a.nodes[index])
	return len(a.out) - 1
}

// close completes the tree whose root is out[root].
func (a *arrangement) close(root int) { a.out[root].skip = uint32(len(a.out) - root) }

// sorted arranges the trees of one parent at a.trees[first:], and removes them from a.trees.
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

// one joins trees with equal roots into one tree.
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
	// The children of all trees become siblings, and are sorted together.
	case a.how == unite && len(trees) > 1:
		a.sorted(first)
	// The children of the last tree that has any.
	case inner >= 0:
		a.siblings(inner+1, inner+int(a.nodes[inner].skip))
	}
	a.close(root)
}
