package fieldpath_test

import (
	"testing"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/testing/pathtest"
)

// chains returns the paths of a tree of so many levels, in which each element has two below it.
func chains(levels int, prefix fieldpath.Path) []fieldpath.Path {
	if levels == 0 {
		return nil
	}
	var out []fieldpath.Path
	for _, e := range []fieldpath.Element{fieldpath.Field("a"), fieldpath.Index(levels)} {
		p := append(append(fieldpath.Path(nil), prefix...), e)
		out = append(append(out, p), chains(levels-1, p)...)
	}
	return out
}

func TestAllGivesPathsAway(t *testing.T) {
	s := fieldpath.SetOf(chains(7, nil)...)
	pathtest.Belong(t, 7, func() any { return s.All() })
}
