package typed_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/testing/model"
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

// TestOrderIsModel merges each list of up to four of six items into each of some lists, with items
// that are there twice among them, as the naive model does.
func TestOrderIsModel(t *testing.T) {
	root := typeOf(t, `{"types":[{"name":"root","list":{"elementRelationship":"associative","keys":["k"],"elementType":{"map":{"fields":[
		{"name":"k","type":{"scalar":"string"}},{"name":"live","type":{"scalar":"numeric"}},{"name":"config","type":{"scalar":"numeric"}}]}}}}]}`)
	list := func(letters, side string) typed.Value {
		var items []string
		for i, k := range letters {
			items = append(items, fmt.Sprintf(`{"k":"%c",%q:%d}`, k, side, i))
		}
		return valueOf(t, root, "["+strings.Join(items, ",")+"]")
	}
	var configs []string
	var arrange func(letters string)
	arrange = func(letters string) {
		configs = append(configs, letters)
		if len(letters) == 4 {
			return
		}
		for _, next := range "abcdxy" {
			if !strings.ContainsRune(letters, next) {
				arrange(letters + string(next))
			}
		}
	}
	arrange("")
	for _, live := range []string{"", "a", "ab", "abc", "abcd", "dcba", "badc", "abcdefghij", "jihgfedcba", "aba", "abcabc", "aabbccdd"} {
		for _, config := range configs {
			was, applied := list(live, "live"), list(config, "config")
			got, err := typed.Merge(was, applied)
			if err != nil {
				t.Fatal(err)
			}
			if want := model.Merge(root, was.Content(), applied.Content()); !got.Content().Equal(want) {
				t.Errorf("%q merged into %q is\n%v, not\n%v", config, live, got.Content(), want)
			}
		}
	}
}
