package gen

import "math/rand/v2"

// Choices makes the decisions of a generator.
type Choices struct {
	next func(n int) int
}

// Seeded returns pseudorandom choices that depend on seed alone.
func Seeded(seed uint64) *Choices {
	r := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
	return &Choices{next: r.IntN}
}

// FromBytes returns choices from data, one byte each. After the end of data, every choice is the first one, which is the simplest.
func FromBytes(data []byte) *Choices {
	return &Choices{next: func(n int) int {
		if len(data) == 0 {
			return 0
		}
		b := int(data[0])
		data = data[1:]
		return b % n
	}}
}

// N returns one of 0 … n-1. It panics if n is not positive.
func (c *Choices) N(n int) int {
	if n <= 0 {
		panic("gen: a choice of nothing")
	}
	return c.next(n)
}

// Chance returns true in about percent of 100 cases. The simplest choice is false.
func (c *Choices) Chance(percent int) bool { return c.N(100) >= 100-percent }

// Pick returns one of items.
func Pick[T any](c *Choices, items ...T) T { return items[c.N(len(items))] }

// Shuffle sorts items into a chosen order. The simplest choice leaves them unchanged.
func Shuffle[T any](c *Choices, items []T) {
	for i := range len(items) - 1 {
		j := i + c.N(len(items)-i)
		items[i], items[j] = items[j], items[i]
	}
}
