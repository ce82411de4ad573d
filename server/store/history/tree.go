package history

import (
	"hash/maphash"
	"strings"

	"github.com/deed-project/deed/server/store"
)

// tree is an immutable set of records sorted by key. It is a treap whose nodes hold the sizes of their subtrees. The nil tree is empty.
//
//	    f 0.9            Invariants, for each node n:
//	  ╱       ╲            n.left has the smaller keys, n.right the greater ones
//	b 0.7     k 0.4        n.priority >= n.left.priority, n.right.priority
//	   ╲     ╱             n.size == 1 + n.left.size + n.right.size
//	 d 0.2  h 0.1
//
// Priorities are hashes of keys with a seed of the process. The depth is therefore that of a random tree, about 2 log n, whatever the order
// of writes. Trees of the same keys have the same shape.
//
// A write copies the nodes from the root to its record, about a kilobyte among 100,000 records, and shares the rest with the previous tree.
// So each revision has its own immutable tree. Most of these trees are dropped; see past.
type tree = *node

// It is never modified once it is part of a tree. Its entry is shared by all trees that contain it.
type node struct {
	entry       *entry
	left, right tree
	priority    uint64
	size        int
}

// seed makes priorities unpredictable: a client that chooses keys cannot make the tree deep.
var seed = maphash.MakeSeed()

// with returns a copy of the node n with other children.
func (n *node) with(left, right tree) tree {
	return &node{n.entry, left, right, n.priority, 1 + size(left) + size(right)}
}

// size returns the number of records of a tree.
func size(t tree) int {
	if t == nil {
		return 0
	}
	return t.size
}

// find returns the record of a key, or nil. Its cost is the depth of the tree.
func find(t tree, key string) *entry {
	for t != nil {
		switch c := strings.Compare(key, t.entry.Key); {
		case c < 0:
			t = t.left
		case c > 0:
			t = t.right
		default:
			return t.entry
		}
	}
	return nil
}

// put returns t with e, which replaces a record with the same key. Its cost is the depth of the tree.
func put(t tree, e *entry) tree {
	return insert(t, &node{entry: e, priority: maphash.String(seed, e.Key), size: 1})
}

// insert returns t with the node n, which has no children. Where n has a greater priority than the root of a subtree, it becomes the root
// there, with what split gives as its children.
func insert(t tree, n *node) tree {
	switch {
	case t == nil:
		return n
	// The same key has the same priority, so n takes exactly the place of t.
	case n.entry.Key == t.entry.Key:
		return &node{n.entry, t.left, t.right, t.priority, t.size}
	case n.priority > t.priority: // t has no record of the key below: it would have the same priority
		left, right := split(t, n.entry.Key)
		return n.with(left, right)
	case n.entry.Key < t.entry.Key:
		return t.with(insert(t.left, n), t.right)
	}
	return t.with(t.left, insert(t.right, n))
}

// split returns the records of t before and after a key that t does not have.
//
// It copies only the nodes on the way to the place of the key.
func split(t tree, key string) (before, after tree) {
	switch {
	case t == nil:
		return nil, nil
	case key < t.entry.Key:
		before, after = split(t.left, key)
		return before, t.with(after, t.right)
	}
	before, after = split(t.right, key)
	return t.with(t.left, before), after
}

// remove returns t without the record of a key that t has. Its cost is the depth of the tree.
//
// It panics if t does not have the key: callers have found the record before.
func remove(t tree, key string) tree {
	switch c := strings.Compare(key, t.entry.Key); {
	case c < 0:
		return t.with(remove(t.left, key), t.right)
	case c > 0:
		return t.with(t.left, remove(t.right, key))
	}
	return join(t.left, t.right)
}

// join returns the union of two trees. All keys of the first must be smaller.
//
// The root with the greater priority stays a root, so the heap order of priorities is kept.
func join(left, right tree) tree {
	switch {
	case left == nil:
		return right
	case right == nil:
		return left
	case left.priority > right.priority:
		return left.with(left.left, join(left.right, right))
	}
	return right.with(join(left, right.left), right.right)
}

// rank returns the number of keys of t that are smaller than key. Its cost is the depth of the tree.
//
// It adds up the sizes of the subtrees that lie before the key, and so counts without visiting them. Two ranks give the number of records
// in a range, which is how a page knows what remains.
func rank(t tree, key string) int {
	n := 0
	for t != nil {
		if key <= t.entry.Key {
			t = t.left
		} else {
			n += 1 + size(t.left)
			t = t.right
		}
	}
	return n
}

// appendFrom appends records of t from a key on until records has n elements. Its cost is the depth of the tree plus the number of appended
// records. It compares keys only on the way to the first record.
//
// Subtrees that lie before the key are skipped. Once one record is appended, all that follow belong to the range up to its end, which the
// caller has turned into n.
func appendFrom(records []store.Record, t tree, from string, n int) []store.Record {
	for t != nil && t.entry.Key < from {
		t = t.right
	}
	if t == nil {
		return records
	}
	return appendOn(appendFrom(records, t.left, from, n), t, n)
}

// appendAll appends records of t until records has n elements.
func appendAll(records []store.Record, t tree, n int) []store.Record {
	if t == nil || len(records) == n {
		return records
	}
	return appendOn(appendAll(records, t.left, n), t, n)
}

// appendOn appends the record of t, and then the records to its right, until records has n elements.
func appendOn(records []store.Record, t tree, n int) []store.Record {
	if len(records) == n {
		return records
	}
	return appendAll(append(records, t.entry.Record), t.right, n)
}

// page returns the records of a range, and the number of records that remain.
//
// For example, let the keys be a/1 a/2 a/3 b/1, and the range have prefix a/, after a/1 and limit 1. Then from is "a/1\x00" with rank 1,
// and end is 3, the rank of "a0". Two records are left: a/2 is the page, and one remains.
func page(t tree, r store.Range) (records []store.Record, remaining int) {
	from := r.Prefix
	if r.After >= from {
		from = r.After + "\x00" // the smallest greater key
	}
	end := size(t)
	if next, ok := afterPrefix(r.Prefix); ok {
		end = rank(t, next)
	}
	n := max(0, end-rank(t, from))
	limit := n
	if r.Limit > 0 {
		limit = min(n, r.Limit)
	}
	if limit == 0 {
		return nil, n
	}
	return appendFrom(make([]store.Record, 0, limit), t, from, limit), n - limit
}

// afterPrefix returns the smallest key that is greater than all keys with the prefix, or false if there is none.
func afterPrefix(prefix string) (string, bool) {
	last := len(prefix) - 1
	for last >= 0 && prefix[last] == 0xff {
		last--
	}
	if last < 0 {
		return "", false
	}
	return prefix[:last] + string([]byte{prefix[last] + 1}), true
}
