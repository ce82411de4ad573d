package wire

import (
	"cmp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/value"
)

// texts are configurations for which the fast path and the library might differ, because JSON and YAML read them differently.
var texts = []string{
	`{}`, `{"a":1}`, `{"a":{"b":[1,-2,"x",true,null]}}`, "{\"a\":\n \"b\"}", "{\"a\":\t1}", "{\"a\"\n:1}", "{\"a\"\r: 1}", "{\"a\" : 1}", `{"a":1.0}`, `{"a":1e3}`, `{"a":1E400}`,
	`{"a":123456789012345678}`, `{"a":9223372036854775807}`, `{"a":18446744073709551616}`, `{"a":-0}`, `{"y":"n"}`, `{"a":"\u00e9"}`,
	`{"a":"\ud83d\ude00"}`, `{"a":"é"}`, "{\"a\":\"\u0085\"}", "{\"a\":\"\u2028\"}", "{\"a\":\"\ufeff\"}", `{"<<":{"a":1}}`,
	`{"a":1,"a":2}`, `{"a":1} trailing`, `{"a":1}{"b":2}`, `[]`, `null`, ``, `"text"`, `{`, `{"a"}`, `{"a":"\/\b\f\n\r\t\"\\"}`,
	`{"` + strings.Repeat("k", 1100) + `":1}`, `{"a":"` + strings.Repeat("v", 1100) + `"}`, "{\"a\":\"\x7f\"}", `{"a":'b'}`, "a: b", "a: yes",
	`{"a": "x # y", "b": "- z", "c": "{d}", "e": "&f", "g": "*h", "i": "!j", "k": "%l", "m": "@n"}`,
}

// viaLibrary is DecodeApply without the fast path.
func viaLibrary(text string) (value.Value, error) {
	content := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &content); err != nil {
		return value.Value{}, err
	}
	return value.FromAny(content)
}

// agrees compares the two paths. Only the library's strict errors report duplicate names.
func agrees(t *testing.T, text string) {
	t.Helper()
	quick, err := DecodeApply([]byte(text))
	err = cmp.Or(err, quick.Refusal)
	slow, slowErr := viaLibrary(text)
	switch {
	case (err == nil) != (slowErr == nil):
		t.Errorf("%.80q: %v, but the library says %v", text, err, slowErr)
	case err == nil && !quick.Content.Equal(slow):
		t.Errorf("%.80q is %v, but for the library %v", text, quick.Content, slow)
	case err == nil:
		twice := yaml.UnmarshalStrict([]byte(text), &map[string]any{})
		if (quick.Strict() == "") != (twice == nil) {
			t.Errorf("%.80q: strictly %q, but for the library %v", text, quick.Strict(), twice)
		}
	}
}

func TestDecodeApply(t *testing.T) {
	for _, text := range texts {
		agrees(t, text)
	}
}

// FuzzDecodeApply checks that the fast path through JSON reads the same as the library.
func FuzzDecodeApply(f *testing.F) { seeds.Fuzz(f, texts, agrees) }
