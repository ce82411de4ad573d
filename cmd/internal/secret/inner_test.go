package secret

import (
	"strings"
	"testing"

	"github.com/deed-project/deed/value"
)

func TestInner(t *testing.T) {
	for _, c := range []struct{ live, result, want string }{
		{`[{"port":80,"name":"a"},{"port":81}]`, `[{"port":80,"name":"a"},{"port":82}]`, `x[1].port: 81 -> 82`},
		{`["a","b","c"]`, `["a","new","b","c"]`, `x[1]: "new" is added`},
		{`["a","b","c"]`, `["a","c"]`, `x[1]: "b" is removed`},
		{`["a","b"]`, `["b","a","c"]`, "x[0]: \"a\" -> \"b\"\nx[1]: \"b\" -> \"a\"\nx[2]: \"c\" is added"},
		{`[[1],[2]]`, `[[1],[2,3]]`, `x[1][1]: 3 is added`},
		{`{"a":1,"c":{"d":2}}`, `{"b":1,"c":{"d":[]}}`, "x.a: 1 is removed\nx.b: 1 is added\nx.c.d: 2 -> []"},
		{`[1]`, `[1]`, ""},
		{`[1]`, `{"a":1}`, `x: [1] -> {"a":1}`},
		{`["a","a"]`, `["a"]`, `x[1]: "a" is removed`},
	} {
		live, err := value.Parse([]byte(c.live))
		if err != nil {
			t.Fatal(err)
		}
		result, err := value.Parse([]byte(c.result))
		if err != nil {
			t.Fatal(err)
		}
		if lines, more := Inner("x", Value{live}, Value{result}, 10); strings.Join(lines, "\n") != c.want || more != 0 {
			t.Errorf("%s, %s: got %q and %d more, want %q", c.live, c.result, lines, more, c.want)
		}
	}
	live, result := value.List(value.Int(1), value.Int(2)), value.List(value.Int(3), value.Int(4))
	if lines, more := Inner("x", Value{live}, Value{result}, 1); len(lines) != 1 || more != 1 {
		t.Errorf("got %q and %d more", lines, more)
	}
}
