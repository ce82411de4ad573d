package value_test

import (
	"strings"
	"testing"

	"github.com/deed-project/deed/value"
)

func TestDecoderText(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{`{"m":{"l":[{"f": {"a\"é\ud83d\ude00" : [1, {}, 1e99, "x"]} ,"g":"é"}, {"f":null}, 7], "f":{"x": 1}}, "f":2}`,
			`{"f":2,"m":{"f":{"x":1},"l":[{"f":"{\"a\\\"é\\ud83d\\ude00\" : [1, {}, 1e99, \"x\"]}","g":"é"},{"f":"null"},7]}}`},
		{`{"m":{"l":{"f":{"x": 1}}}}`, `{"m":{"l":{"f":{"x":1}}}}`},
		{`{"m":[{"l":[{"f":{"x": 1}}]}]}`, `{"m":[{"l":[{"f":{"x":1}}]}]}`},
		{`[{"f":{"x": 1}}]`, `[{"f":{"x":1}}]`},
	} {
		v, err := (&value.Decoder{Text: []string{"m", "l", "*", "f"}}).Parse([]byte(test.text))
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
			continue
		}
		want, err := value.Parse([]byte(test.want))
		if err != nil {
			t.Fatal(err)
		}
		if !v.Equal(want) {
			t.Errorf("%s: got %v, want %v", test.text, v, want)
		}
	}
}

// TestDecoderTextErrors shows that what stays text is JSON.
func TestDecoderTextErrors(t *testing.T) {
	for _, kept := range []string{
		``, `{`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{a:1}`, `[1 2]`, `[}`, `{"a":"` + "\n" + `"}`, `{"a\x":1}`, `"` + "\xff" + `"`, `tru`, `01`,
		strings.Repeat("[", value.MaxDepth+1), `"abc`,
	} {
		if v, err := (&value.Decoder{Text: []string{"f"}}).Parse([]byte(`{"f":` + kept + `}`)); err == nil {
			t.Errorf("%q stayed text, as %v", kept, v)
		}
	}
}
