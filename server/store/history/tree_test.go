package history

import (
	"fmt"
	"math"
	"testing"

	"github.com/deed-project/deed/server/store"
)

func depth(t tree) int {
	if t == nil {
		return 0
	}
	return 1 + max(depth(t.left), depth(t.right))
}

// TestDepth inserts ascending keys, the worst order for a tree that does not balance itself.
func TestDepth(t *testing.T) {
	var root tree
	for i := range 20000 {
		root = put(root, &entry{Record: store.Record{Key: fmt.Sprintf("/r/%06d", i)}})
		if i == 99 || i == 999 || i == 19999 {
			if d, most := depth(root), int(4.5*math.Log2(float64(i+1))); d > most {
				t.Errorf("the depth of %d records is %d, more than %d", i+1, d, most)
			}
		}
	}
}

// TestInvariants checks the invariants of trees, and that earlier trees do not change.
func TestInvariants(t *testing.T) {
	var trees []tree
	var root tree
	for i := range 300 {
		key := fmt.Sprint(i * 7919 % 100)
		if find(root, key) != nil && i%3 == 0 {
			root = remove(root, key)
		} else {
			root = put(root, &entry{Record: store.Record{Key: key, Revision: store.Revision(i)}})
		}
		trees = append(trees, root)
	}
	for i, tr := range trees {
		check(t, tr, "", "\xff")
		if i > 0 && size(tr) == size(trees[i-1]) && tr == trees[i-1] {
			t.Errorf("write %d made no tree of its own", i)
		}
	}
}

func check(t *testing.T, n tree, from, to string) {
	if n == nil {
		return
	}
	if n.entry.Key <= from || n.entry.Key >= to || n.size != 1+size(n.left)+size(n.right) {
		t.Fatalf("%q between %q and %q has size %d", n.entry.Key, from, to, n.size)
	}
	for _, child := range []tree{n.left, n.right} {
		if child != nil && child.priority > n.priority {
			t.Fatalf("%q is above %q", n.entry.Key, child.entry.Key)
		}
	}
	check(t, n.left, from, n.entry.Key)
	check(t, n.right, n.entry.Key, to)
}

// TestPageIsFlat checks that the cost of a page depends on its own records only, not on those before and after.
func TestPageIsFlat(t *testing.T) {
	cost := func(n int) float64 {
		var root tree
		for i := range n {
			root = put(root, &entry{Record: store.Record{Key: fmt.Sprintf("/r/%06d", i)}})
		}
		asked := store.Range{Prefix: "/r/", After: fmt.Sprintf("/r/%06d", n/2), Limit: 10}
		return testing.AllocsPerRun(10, func() {
			if records, remaining := page(root, asked); len(records) != 10 || remaining != n-n/2-11 {
				t.Fatal(len(records), remaining)
			}
		})
	}
	if few, many := cost(100), cost(10000); many > few {
		t.Errorf("a page of 10 among 100 allocates %v times, among 10,000 %v times", few, many)
	}
}
