package typed_test

import (
	"testing"

	"github.com/deed-project/deed/internal/work"
	"github.com/deed-project/deed/typed"
)

// TestWalksCountWhatTheyDo has the work of each walk on one small object: a counter that does not
// count would let a walk be repeated. Fields visits the root, two lists and three items.
func TestWalksCountWhatTheyDo(t *testing.T) {
	root := typeOf(t, lists)
	live := valueOf(t, root, `{"set":["a","b"],"keyed":[{"k":"x","n":1},{"k":"y","n":2},{"k":"z","n":3}]}`)
	config := valueOf(t, root, `{"set":["b","c"],"keyed":[{"k":"z","n":3},{"k":"y","n":5}]}`)
	owned, others := live.Fields(), config.Fields()
	gone := setOf(t, `.keyed[k="y"]`, `.set[="a"]`)
	for _, c := range []struct {
		name string
		run  func()
		want work.Counts
	}{
		{"New", func() { typed.New(config.Content(), root) }, work.Counts{Nodes: 11, Pairs: 2}},
		{"Fields", func() { live.Fields() }, work.Counts{Nodes: 6, Elements: 13}},
		{"Compare", func() { typed.Compare(live, config) }, work.Counts{Nodes: 5, Elements: 11, Pairs: 23}},
		{"Merge", func() { typed.Merge(live, config) }, work.Counts{Nodes: 10, Pairs: 13}},
		{"Remove", func() { live.Remove(gone) }, work.Counts{Nodes: 9}},
		{"Walk", func() {
			for range typed.Walk(owned, []typed.Value{live, config}, others) {
			}
		}, work.Counts{Nodes: 32, Pairs: 35}},
	} {
		if got := work.Record(c.run); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}
