package mergepatch

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/deed-project/deed/value"
)

// TestApply checks the rules of RFC 7386, and the difference of kube-apiserver's library.
func TestApply(t *testing.T) {
	for _, test := range []struct{ v, patch, want string }{
		{`{"a":1}`, `{"a":2,"b":{"c":null,"d":3}}`, `{"a":2,"b":{"d":3}}`},
		{`{"a":{"b":1,"c":2}}`, `{"a":{"b":null}}`, `{"a":{"c":2}}`},
		{`{"a":1}`, `{"a":null,"b":null}`, `{}`},
		{`{"a":1}`, `{"a":[{"b":null}]}`, `{"a":[{}]}`},
		{`{"a":{"b":1}}`, `{"a":[{"b":null}]}`, `{"a":[{"b":null}]}`},
		{`{"a":1}`, `[1]`, `[1]`},
		{`{"a":1}`, `{}`, `{"a":1}`},
		{`[1]`, `{}`, `{}`},
		{`[1]`, `{"a":{"b":null}}`, `{"a":{}}`},
		{`{"b":1,"d":2,"f":3}`, `{"a":0,"b":null,"c":4,"e":null,"f":5,"g":6}`, `{"a":0,"c":4,"d":2,"f":5,"g":6}`},
	} {
		if got := Apply(parse(t, test.v), parse(t, test.patch)); !got.Equal(parse(t, test.want)) {
			t.Errorf("%s with %s is %v, want %s", test.v, test.patch, got, test.want)
		}
	}
}

// TestCost removes and changes all members of large objects, and checks that allocations are linear in their number.
func TestCost(t *testing.T) {
	of := func(n int, member string) value.Value {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"m%d":%s`, i, member)
		}
		return parse(t, "{"+b.String()[1:]+"}")
	}
	for _, member := range []string{"null", `"x"`} {
		bytes := func(n int) uint64 {
			v, patch := of(n, "1"), of(n, member)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			Apply(v, patch)
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		if few, many := bytes(500), bytes(4000); many > 12*few {
			t.Errorf("a patch of 500 members, %s, allocates %d bytes, and one of 4000 %d", member, few, many)
		}
	}
}

func parse(t *testing.T, text string) value.Value {
	t.Helper()
	v, err := value.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}
