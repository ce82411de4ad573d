package kjson_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/deed-project/deed/server/kjson"
)

// twice returns an object with n duplicate names below a name of the given length.
func twice(length, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"b%d":1,"b%[1]d":2,`, i)
	}
	return `{"` + strings.Repeat("k", length) + `":{` + strings.TrimSuffix(b.String(), ",") + `}}`
}

func TestCheckPaths(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       error
	}{
		{"an empty text", "", nil},
		{"no JSON", strings.Repeat(`}]"\`, 10_000), nil},
		{"a long name", twice(1<<20, 1), nil},
		{"many names", twice(1, 50_000), nil},
		{"many names below a long one", twice(10_000, 10_000), kjson.ErrPaths},
		{"a long name beside many", strings.Replace(twice(1, 10_000), `{"k":`, `{"`+strings.Repeat("l", 10_000)+`":{"a":1},"k":`, 1), nil},
		{"a long text above many names", strings.Replace(twice(1, 10_000), `{"k":`, `{"l":"`+strings.Repeat("{[", 10_000)+`","k":`, 1), nil},
		{"objects within lists", strings.Repeat(`[`, 9000) + twice(1, 9000) + strings.Repeat(`]`, 9000), kjson.ErrPaths},
		{"a name with escapes", strings.Replace(twice(10_000, 10_000), "k", `\"`, -1), kjson.ErrPaths},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := kjson.CheckPaths([]byte(c.text)); err != c.want {
				t.Errorf("got %v, want %v", err, c.want)
			}
			var into any
			_, err := kjson.UnmarshalStrict([]byte(c.text), &into)
			if errors.Is(err, kjson.ErrPaths) != (c.want != nil) {
				t.Errorf("UnmarshalStrict: %v", err)
			}
		})
	}
}

// TestUnmarshalStrict decodes duplicate names, and names that a Go type does not have.
func TestUnmarshalStrict(t *testing.T) {
	var into struct {
		A int64 `json:"a"`
	}
	found, err := kjson.UnmarshalStrict([]byte(`{"a":1,"A":3,"a":2,"b":{"c":1}}`), &into)
	if err != nil || into.A != 2 {
		t.Fatalf("a is %d, error %v", into.A, err)
	}
	if got := fmt.Sprint(kjson.Fields(found)); got != "[A a b]" {
		t.Errorf("found %s", got)
	}
}
