package cache

import (
	"fmt"
	"runtime"
	"testing"
)

// TestCacheBudget puts more values than fit, and one that never fits. Random entries must go.
func TestCacheBudget(t *testing.T) {
	const budget = 1 << 20
	var c Cache[int, []byte]
	made := make([]byte, budget/100-EntryCost)
	for i := range 1000 {
		c.Put(i, made, len(made), budget)
		c.Put(i, made, len(made), budget)
		if _, ok := c.Get(i); !ok {
			t.Fatalf("%d is forgotten at once", i)
		}
	}
	c.Put(-1, nil, budget, budget)
	size := 0
	for _, e := range c.of {
		size += e.cost
	}
	if size != c.size || len(c.of) != 100 {
		t.Errorf("%d entries, %d bytes, reckoned %d", len(c.of), size, c.size)
	}
	c.RemoveIf(func(key int) bool { return key == 999 })
	if _, ok := c.Get(999); ok || len(c.of) != 99 || c.size != size-budget/100 {
		t.Errorf("after one was dropped: %v, %d entries of %d bytes", ok, len(c.of), c.size)
	}
}

// TestReplace sets the value of a key twice, and removes it.
func TestReplace(t *testing.T) {
	var c Cache[string, int]
	c.Put("a", 1, 100, 10_000)
	c.Put("a", 2, 200, 10_000)
	if v, ok := c.Get("a"); v != 2 || !ok || c.size != EntryCost+200 {
		t.Errorf("%d, %v, %d bytes", v, ok, c.size)
	}
	c.Remove("a")
	c.Remove("b")
	if _, ok := c.Get("a"); ok || c.size != 0 || c.Len() != 0 {
		t.Errorf("after it was removed: %v, %d bytes, %d entries", ok, c.size, c.Len())
	}
}

// key is as large as the keys of list and watch texts.
type key struct {
	name string
	more [12]uintptr
}

// TestMemory fills a cache with large and with small texts, and measures its memory.
func TestMemory(t *testing.T) {
	const budget = 16 << 20
	for _, size := range []int{20, 1000, 100_000} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		var c Cache[key, []byte]
		for i := range 2 * budget / (size + EntryCost) {
			c.Put(key{fmt.Sprintf("%128d", i), [12]uintptr{uintptr(i)}}, make([]byte, size), 128+size, budget)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		held := int(after.HeapAlloc) - int(before.HeapAlloc)
		if t.Logf("texts of %d bytes take %d kB", size, held>>10); held < budget/2 || held > budget*5/4 {
			t.Errorf("texts of %d bytes take %d bytes, of %d", size, held, budget)
		}
		runtime.KeepAlive(&c)
	}
}
