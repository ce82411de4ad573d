package gen

import (
	"github.com/deed-project/deed/fieldpath"
)

// Subset makes a set of some paths of s, some that lead to places above or below them, and none at all sometimes.
func Subset(c *Choices, s fieldpath.Set) fieldpath.Set {
	var b fieldpath.Builder
	keep := Pick(c, 30, 5, 60, 90)
	for p := range s.All() {
		if !c.Chance(keep) {
			continue
		}
		switch n := c.N(20); {
		case n == 18:
			p = p[:1+c.N(len(p))]
		case n == 19:
			p = append(p, fieldpath.Field(Pick(c, fieldNames...)))
		}
		b.Add(p)
	}
	return b.Set()
}
