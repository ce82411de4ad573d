package gen

import "math/rand/v2"

// Choices decides what a generator does.
type Choices struct {
	next func(n int) int
}

// Seeded returns choices that look random and depend on seed alone.
func Seeded(seed uint64) *Choices {
	r := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
	return &Choices{next: r.IntN}
}

// FromBytes returns choices that data makes, one byte each. Once data is used up every choice is the first one, which is the
// simplest.
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

// N chooses one of 0 … n-1. It panics when n is not positive.
func (c *Choices) N(n int) int {
	if n <= 0 {
		panic("gen: a choice of nothing")
	}
	return c.next(n)
}

// Chance chooses true in about percent of 100 cases. The simplest choice is false.
func (c *Choices) Chance(percent int) bool { return c.N(100) >= 100-percent }

// Pick chooses one of items.
func Pick[T any](c *Choices, items ...T) T { return items[c.N(len(items))] }

// Shuffle puts items into a chosen order. The simplest choice leaves them as they are.
func Shuffle[T any](c *Choices, items []T) {
	for i := range len(items) - 1 {
		j := i + c.N(len(items)-i)
		items[i], items[j] = items[j], items[i]
	}
}
