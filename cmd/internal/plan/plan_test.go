package plan

import (
	"slices"
	"testing"

	"github.com/deed-project/deed/internal/testing/kindtest"
)

// TestLost counts the losses of replaced lists and objects: each occurrence of an item counts.
func TestLost(t *testing.T) {
	for _, c := range []struct {
		live, result string
		want         int
	}{
		{`[]`, `[1]`, 0}, {`[1,2]`, `[2,1]`, 0}, {`[1,1,2]`, `[1]`, 2}, {`[1]`, `[]`, 1}, {`[{"a":1}]`, `[{"a":2}]`, 1},
	} {
		if got := lostItems(kindtest.Parse(t, c.live), kindtest.Parse(t, c.result)); got != c.want {
			t.Errorf("%s replaced by %s loses %d items, want %d", c.live, c.result, got, c.want)
		}
	}
	if got := lostMembers(kindtest.Parse(t, `{"a":1,"b":2}`), kindtest.Parse(t, `{"b":3}`)); got != 1 {
		t.Errorf("%d members are lost, want 1", got)
	}
}

// TestNewNulls finds values that become null, also in items of lists that keep their length. No two paths share memory, at any depth.
func TestNewNulls(t *testing.T) {
	live := kindtest.Parse(t, `{"a":1,"b":null,"c":[{"d":1}],"e":[1],"g":{"h":{"i":{"j":1,"k":2,"l":[1,2]}}}}`)
	result := kindtest.Parse(t, `{"a":null,"b":null,"c":[{"d":null}],"e":[null,1],"f":null,"g":{"h":{"i":{"j":null,"k":null,"l":[null,null]}}}}`)
	var got []string
	for _, path := range newNulls(live, result, nil) {
		got = append(got, path.String())
	}
	if want := []string{".a", ".c[0].d", ".g.h.i.j", ".g.h.i.k", ".g.h.i.l[0]", ".g.h.i.l[1]"}; !slices.Equal(got, want) {
		t.Errorf("new nulls are %q, want %q", got, want)
	}
}
