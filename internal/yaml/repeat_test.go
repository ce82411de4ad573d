package yaml

import (
	"fmt"
	"testing"
)

func TestParseRepeating(t *testing.T) {
	for _, c := range []struct{ text, want, repeated string }{
		{"a: 1\nb: 2\n", `{"a":1,"b":2}`, "[]"},
		{"a: 1\nb: 2\na: 3\n", `{"a":3,"b":2}`, "[{[a] 3 1 1}]"},
		{"a: 1\na: 2\na: 3\n", `{"a":3}`, "[{[a] 2 1 1} {[a] 3 1 2}]"},
		{"l:\n- x: 1\n- {p: 1, p: {z: 1, z: 2}}\n", `{"l":[{"x":1},{"p":{"z":2}}]}`, "[{[l 1 p] 3 10 3} {[l 1 p z] 3 20 3}]"},
		{`{"a": 1, "a": 2.5}`, `{"a":2.5}`, "[{[a] 1 10 1}]"},
		{"1: a\n\"1\": b\n", `{"1":"b"}`, "[{[1] 2 1 1}]"},
	} {
		docs, err := ParseRepeating("", []byte(c.text))
		if err != nil || len(docs) != 1 {
			t.Errorf("%q: %d documents, error %v", c.text, len(docs), err)
			continue
		}
		if got := string(docs[0].Value.AppendJSON(nil)); got != c.want || fmt.Sprint(docs[0].Repeated) != c.repeated {
			t.Errorf("%q: got %s with %v, want %s with %s", c.text, got, docs[0].Repeated, c.want, c.repeated)
		}
		if _, err := Parse("", []byte(c.text)); (err != nil) != (c.repeated != "[]") {
			t.Errorf("%q: Parse says %v", c.text, err)
		}
	}
	for _, text := range []string{`{"a": 1e400}`, `{"a": 1, "a": 2} {"b": 1}`, "a: 1\n<<: {a: 2}\n", "{a: 1, a"} {
		_, want := Parse("", []byte(text))
		if _, err := ParseRepeating("", []byte(text)); err == nil || err.Error() != want.Error() {
			t.Errorf("%q: got %v, want %v", text, err, want)
		}
	}
}
