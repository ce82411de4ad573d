package typed_test

import (
	"strings"
	"testing"

	"github.com/deed-project/deed/typed"
)

// The order of merged lists, with the cases that the comment of zipper.run names.
func TestOrderOfMergedLists(t *testing.T) {
	root := typeOf(t, `{"types":[{"name":"root","list":{"elementRelationship":"associative","elementType":{"scalar":"string"}}}]}`)
	list := func(words string) typed.Value {
		return valueOf(t, root, `["`+strings.Join(strings.Fields(words), `","`)+`"]`)
	}
	for _, c := range []struct{ live, config, want string }{
		{"a b c d", "x c a y", "b x c d a y"}, // the example
		{"a b", "a b", "a b"},
		{"a b", "b a", "b a"},
		{"a b c", "b", "a b c"},
		{"a b c", "x", "a b c x"}, // without an anchor, behind all
		{"a b c", "x b", "a x b c"},
		{"a b c", "b x", "a b c x"},
		{"a b c", "c x a", "b c x a"},
		{"a b c d", "d b", "a c d b"},
	} {
		merged, err := typed.Merge(list(c.live), list(c.config))
		if err != nil {
			t.Fatal(err)
		}
		var words []string
		for item := range merged.Content().Items() {
			words = append(words, item.Str())
		}
		if got := strings.Join(words, " "); got != c.want {
			t.Errorf("%q merged into %q is %q, want %q", c.config, c.live, got, c.want)
		}
	}
}
