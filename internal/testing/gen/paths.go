package gen

import (
	"github.com/deed-project/deed/fieldpath"
)

// Subset returns a set of some paths of s, and of some places above or below them. It may be empty.
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
