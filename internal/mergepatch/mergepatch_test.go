package mergepatch

import (
	"testing"

	"github.com/deed-project/deed/value"
)

// TestApply has the rules of RFC 7386, and where kube-apiserver's library departs from them.
func TestApply(t *testing.T) {
	for _, test := range []struct{ v, patch, want string }{
		{`{"a":1}`, `{"a":2,"b":{"c":null,"d":3}}`, `{"a":2,"b":{"d":3}}`},
		{`{"a":{"b":1,"c":2}}`, `{"a":{"b":null}}`, `{"a":{"c":2}}`},
		{`{"a":1}`, `{"a":null,"b":null}`, `{}`},
		{`{"a":1}`, `{"a":[{"b":null}]}`, `{"a":[{}]}`},
		{`{"a":{"b":1}}`, `{"a":[{"b":null}]}`, `{"a":[{"b":null}]}`},
		{`{"a":1}`, `[1]`, `[1]`},
	} {
		if got := Apply(parse(t, test.v), parse(t, test.patch)); !got.Equal(parse(t, test.want)) {
			t.Errorf("%s with %s is %v, want %s", test.v, test.patch, got, test.want)
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
