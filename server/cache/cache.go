// Package cache caches values within a budget of bytes.
package cache

import "sync"

// EntryCost is the memory of an entry beside the cost of its value. It includes the entry's part of the map.
const EntryCost = 400

// Cache holds values by key. The zero Cache is empty and ready. It is safe for concurrent use.
//
// Invariant: size is the sum of the costs of all entries, and at most the budget.
type Cache[K comparable, V any] struct {
	mu   sync.RWMutex
	of   map[K]entry[V]
	size int
}

type entry[V any] struct {
	value V
	cost  int
}

// Get returns the value of a key, and whether there is one.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	e, ok := c.of[key]
	return e.value, ok
}

// Put sets the value of a key at a cost in bytes. budget must be the same in each call. A value that costs more than the budget is not
// kept. To make room, Put removes random entries. A scan over more values than fit, such as a long list, then still finds part of them the
// next time; with the oldest first it would find none.
func (c *Cache[K, V]) Put(key K, value V, cost, budget int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(key)
	e := entry[V]{value, EntryCost + cost}
	if e.cost > budget {
		return
	}
	if c.of == nil {
		c.of = map[K]entry[V]{}
	}
	for other := range c.of {
		if c.size+e.cost <= budget {
			break
		}
		c.remove(other)
	}
	c.size += e.cost
	c.of[key] = e
}

// remove removes the entry of a key. The caller holds c.mu.
func (c *Cache[K, V]) remove(key K) {
	c.size -= c.of[key].cost
	delete(c.of, key)
}

// Remove removes the entry of a key.
func (c *Cache[K, V]) Remove(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(key)
}

// RemoveIf removes the entries whose keys satisfy is. Its cost is the number of entries.
func (c *Cache[K, V]) RemoveIf(is func(K) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key := range c.of {
		if is(key) {
			c.remove(key)
		}
	}
}

// Len returns the number of entries.
func (c *Cache[K, V]) Len() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.of)
}
