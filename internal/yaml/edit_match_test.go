package yaml

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/value"
)

func TestMatchItems(t *testing.T) {
	for _, c := range []struct {
		old, new string
		want     []int
	}{
		{`[]`, `[1]`, []int{}},
		{`[1,2,3]`, `[1,2,3]`, []int{0, 1, 2}},
		{`[1,2,3]`, `[1,3]`, []int{0, -1, 1}},
		{`[1,3]`, `[1,2,3]`, []int{0, 2}},
		{`[1,2]`, `[2,1]`, []int{-1, 0}},
		{`[{"n":"a","x":1},{"n":"b","x":2}]`, `[{"n":"b","x":3},{"n":"c","x":4}]`, []int{-1, 0}},
		{`[{"m":{"n":"a"},"x":1}]`, `[{"m":{"n":"b"},"x":2},{"m":{"n":"a"},"x":3}]`, []int{1}},
		{`[{"n":"a","p":"TCP"},{"n":"b","p":"TCP"}]`, `[{"n":"b","p":"UDP"}]`, []int{-1, 0}},
	} {
		old, new := parsed(t, c.old), parsed(t, c.new)
		if got := matchItems(old, new); !slices.Equal(got, c.want) {
			t.Errorf("matchItems(%s, %s) = %v, want %v", c.old, c.new, got, c.want)
		}
	}
}

func TestMatchManyItems(t *testing.T) {
	list := func(format string) value.Value {
		var b strings.Builder
		for i := range 2000 {
			fmt.Fprintf(&b, format, i, i)
		}
		return parsed(t, "["+strings.TrimSuffix(b.String(), ",")+"]")
	}
	got := matchItems(list(`{"n":%d,"x":-%d},`), list(`{"n":%d,"x":%d,"y":0},`))
	for i, j := range got {
		if i != j {
			t.Fatalf("item %d matches %d", i, j)
		}
	}
}

func parsed(t *testing.T, text string) value.Value {
	t.Helper()
	v, err := value.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}
