package plan

import (
	"slices"
	"testing"

	"github.com/deed-project/deed/value"
)

func parse(t *testing.T, text string) value.Value {
	t.Helper()
	v, err := value.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestLost counts what goes with a list or object that is replaced: items as often as they are there.
func TestLost(t *testing.T) {
	for _, c := range []struct {
		live, result string
		want         int
	}{
		{`[]`, `[1]`, 0}, {`[1,2]`, `[2,1]`, 0}, {`[1,1,2]`, `[1]`, 2}, {`[1]`, `[]`, 1}, {`[{"a":1}]`, `[{"a":2}]`, 1},
	} {
		if got := lostItems(parse(t, c.live), parse(t, c.result)); got != c.want {
			t.Errorf("%s replaced by %s loses %d items, want %d", c.live, c.result, got, c.want)
		}
	}
	if got := lostMembers(parse(t, `{"a":1,"b":2}`), parse(t, `{"b":3}`)); got != 1 {
		t.Errorf("%d members are lost, want 1", got)
	}
}

// TestNewNulls finds what becomes null, in items of lists that stay as long.
func TestNewNulls(t *testing.T) {
	live := parse(t, `{"a":1,"b":null,"c":[{"d":1}],"e":[1]}`)
	result := parse(t, `{"a":null,"b":null,"c":[{"d":null}],"e":[null,1],"f":null}`)
	var got []string
	for _, path := range newNulls(live, result, nil) {
		got = append(got, path.String())
	}
	if want := []string{".a", ".c[0].d"}; !slices.Equal(got, want) {
		t.Errorf("new nulls are %q, want %q", got, want)
	}
}
