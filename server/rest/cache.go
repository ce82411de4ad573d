package rest

import "sync"

// entryCost is what an entry of a cache takes of its budget beside the texts in its key and its value.
const entryCost = 400

// cache remembers what was made of something, so as not to make it again. It is empty and ready when it is zero, and safe for concurrent
// use.
//
// Invariant: size is the sum of the costs, and at most the budget.
type cache[K comparable, V any] struct {
	mu   sync.Mutex
	of   map[K]entry[V]
	size int
}

type entry[V any] struct {
	made V
	cost int
}

// get returns what was made of what key names, and whether it is remembered.
func (c *cache[K, V]) get(key K) (made V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.of[key]
	return e.made, ok
}

// put remembers what was made, within a budget, which is the same each time. texts is how long the texts in it and in its key are. To make
// room any others are forgotten: if there is always more than fits, as in a long list, some of it is still there when it comes again.
func (c *cache[K, V]) put(key K, made V, texts, budget int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := entry[V]{made, entryCost + texts}
	if _, ok := c.of[key]; ok || e.cost > budget {
		return
	}
	if c.of == nil {
		c.of = map[K]entry[V]{}
	}
	for other, old := range c.of {
		if c.size+e.cost <= budget {
			break
		}
		c.size -= old.cost
		delete(c.of, other)
	}
	c.size += e.cost
	c.of[key] = e
}

// dropIf forgets that of which about is true. The cost grows with what is remembered.
func (c *cache[K, V]) dropIf(about func(K) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, old := range c.of {
		if about(key) {
			c.size -= old.cost
			delete(c.of, key)
		}
	}
}
