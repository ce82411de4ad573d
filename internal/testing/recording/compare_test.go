package recording_test

import (
	"testing"

	"github.com/deed-project/deed/internal/testing/recording"
	"github.com/deed-project/deed/value"
)

// TestCompare shows the relevant and the irrelevant differences between answers.
func TestCompare(t *testing.T) {
	const object = `{"kind":"Thing","metadata":{"name":"o","managedFields":[{"manager":"a"},{"manager":"b"}]},"spec":{"a":1}}`
	failure := func(message string) string {
		return `{"kind":"Status","message":` + value.String(message).String() + `}`
	}
	for name, c := range map[string]struct {
		want, got string
		code      int
		warnings  []string
		equal     bool
	}{
		"the same":         {want: object, got: object, equal: true},
		"another code":     {want: object, got: object, code: 201},
		"a warning":        {want: object, got: object, warnings: []string{`299 - "w"`}},
		"another value":    {want: object, got: `{"kind":"Thing","metadata":{"name":"o","managedFields":[{"manager":"a"},{"manager":"b"}]},"spec":{"a":2}}`},
		"a field less":     {want: object, got: `{"kind":"Thing","metadata":{"name":"o","managedFields":[{"manager":"a"},{"manager":"b"}]}}`},
		"a manager less":   {want: object, got: `{"kind":"Thing","metadata":{"name":"o","managedFields":[{"manager":"a"}]},"spec":{"a":1}}`},
		"a manager twice":  {want: object, got: `{"kind":"Thing","metadata":{"name":"o","managedFields":[{"manager":"a"},{"manager":"a"},{"manager":"b"}]},"spec":{"a":1}}`},
		"another order":    {want: object, got: `{"kind":"Thing","metadata":{"name":"o","managedFields":[{"manager":"b"},{"manager":"a"}]},"spec":{"a":1}}`, equal: true},
		"time and uid":     {want: object, got: `{"kind":"Thing","metadata":{"name":"o","uid":"u","resourceVersion":"1","managedFields":[{"manager":"a","time":"t"},{"manager":"b"}]},"spec":{"a":1}}`, equal: true},
		"another message":  {want: failure("a"), got: failure("b")},
		"other causes":     {want: `{"kind":"Status","details":{"causes":[{"field":"a"}]}}`, got: `{"kind":"Status","details":{"causes":[{"field":"b"}]}}`},
		"order of causes":  {want: `{"kind":"Status","details":{"causes":[{"field":"a"},{"field":"b"}]}}`, got: `{"kind":"Status","details":{"causes":[{"field":"b"},{"field":"a"}]}}`, equal: true},
		"order of reasons": {want: failure("x is invalid: [b: c, a: d]"), got: failure("x is invalid: [a: d, b: c]"), equal: true},
		"other reasons":    {want: failure("x is invalid: [b: c, a: d]"), got: failure("x is invalid: [a: d, b: e]")},

		"a patched object": {
			want:  failure(` "" is invalid: patch: Invalid value: "{\"metadata\":{\"name\":\"o\",\"uid\":\"u\"},\"b\":1,\"a\":2}": no`),
			got:   failure(` "" is invalid: patch: Invalid value: "{\"a\":2,\"b\":1,\"metadata\":{\"name\":\"o\",\"uid\":\"w\"}}": no`),
			equal: true,
		},
		"another patched object": {
			want: failure(` "" is invalid: patch: Invalid value: "{\"metadata\":{\"name\":\"o\"},\"a\":2}": no`),
			got:  failure(` "" is invalid: patch: Invalid value: "{\"metadata\":{\"name\":\"o\"},\"a\":3}": no`),
		},

		"order of type errors":    {want: failure("x: errors:\n  b\n  a"), got: failure("x: errors:\n  a\n  b"), equal: true},
		"a type error less":       {want: failure("x: errors:\n  b\n  a"), got: failure("x: errors:\n  a\n  c\n  b")},
		"another type error":      {want: failure("x: b"), got: failure("x: errors:\n  a\n  c")},
		"type errors forgotten":   {want: failure("x: .a: field not declared in schema"), got: failure("x: errors:\n  .b: c\n  .a: field not declared in schema"), equal: true},
		"another one undeclared":  {want: failure("x: .z: field not declared in schema"), got: failure("x: errors:\n  .b: c\n  .a: field not declared in schema")},
		"type errors of an other": {want: failure("y: errors:\n  b\n  a"), got: failure("x: errors:\n  a\n  b")},
	} {
		want, err := value.Parse([]byte(c.want))
		if err != nil {
			t.Fatal(err)
		}
		got, err := value.Parse([]byte(c.got))
		if err != nil {
			t.Fatal(err)
		}
		if c.code == 0 {
			c.code = 200
		}
		difference := recording.Compare(recording.Step{Code: 200, Response: want}, recording.Answer{Code: c.code, Body: got, Warnings: c.warnings})
		if (difference == "") != c.equal {
			t.Errorf("%s: difference %q", name, difference)
		}
	}
}
