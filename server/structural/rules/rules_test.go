package rules_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/deed-project/deed/server/structural/rules"
	"github.com/deed-project/deed/value"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const schema = `{"type": "object", "properties": {
	"spec": {"type": "object", "required": ["n"], "properties": {
		"n": {"type": "integer", "minimum": 0},
		"i32": {"type": "integer", "format": "int32"},
		"e": {"type": "string", "enum": ["x", "y"]},
		"s": {"type": "string", "maxLength": 5, "pattern": "^a+$"},
		"arr": {"type": "array", "maxItems": 3, "items": {"type": "string"}},
		"dt": {"type": "string", "format": "date-time"},
		"ios": {"x-kubernetes-int-or-string": true},
		"xo": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
			"oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
		"grow": {"type": "integer", "x-kubernetes-validations": [{"rule": "self >= oldSelf", "message": "it shrank"}]},
		"even": {"type": "integer", "x-kubernetes-validations": [{"rule": "self % 2 == 0"}]},
		"tmpl": {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true}
	}},
	"status": {"type": "object", "properties": {"phase": {"type": "string", "enum": ["up", "down"]}}}
}}`

// warnings collects warnings.
type warnings []string

func (w *warnings) AddWarning(_, text string) { *w = append(*w, text) }

// TestTexts checks the texts for new objects and for objects that replace another.
func TestTexts(t *testing.T) {
	r, err := rules.Compile(parse(t, schema))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, object, live, want string }{
		{"good", `{"spec": {"n": 1, "e": "x", "s": "aa", "arr": ["a"], "ios": "a", "xo": {"a": "b"}, "even": 2}}`, "", ""},
		{"required", `{"spec": {}}`, "", `spec.n: Required value
<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation`},
		{"type", `{"spec": {"n": "a"}}`, "", `spec.n: Invalid value: "string": spec.n in body must be of type integer: "string"
<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation`},
		{"minimum", `{"spec": {"n": -1}}`, "", `spec.n: Invalid value: -1: spec.n in body should be greater than or equal to 0`},
		{"int32", `{"spec": {"n": 1, "i32": 4294967296}}`, "",
			`<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.i32`},
		{"enum and length", `{"spec": {"n": 1, "e": "z", "s": "bbbbbb"}}`, "", `spec.e: Unsupported value: "z": supported values: "x", "y"
spec.s: Too long: may not be more than 5 bytes
<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation`},
		{"pattern", `{"spec": {"n": 1, "s": "b"}}`, "", `spec.s: Invalid value: "b": spec.s in body should match '^a+$'`},
		{"items", `{"spec": {"n": 1, "arr": ["", "", "", ""]}}`, "", `spec.arr: Too many: 4: must have at most 3 items
<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation`},
		{"required after members", `{"spec": {"s": "bbbbbb"}}`, "", `spec.s: Too long: may not be more than 5 bytes
spec.n: Required value
<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation`},
		{"length after items", `{"spec": {"n": 1, "arr": ["a", "a", 1, "a", "a", "a", "a", "a", "a", "a", 2]}}`, "", `spec.arr[2]: Invalid value: "integer": spec.arr[2] in body must be of type string: "integer"
spec.arr[10]: Invalid value: "integer": spec.arr[10] in body must be of type string: "integer"
spec.arr: Too many: 11: must have at most 3 items
<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation`},
		{"format", `{"spec": {"n": 1, "dt": "nope"}}`, "",
			`spec.dt: Invalid value: "nope": spec.dt in body must be of type date-time: "nope"
<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation`},
		{"one of", `{"spec": {"n": 1, "xo": {"a": "", "b": ""}}}`, "",
			`<nil>: Invalid value: "": "spec.xo" must validate one and only one schema (oneOf). Found 2 valid alternatives`},
		{"rule", `{"spec": {"n": 1, "even": 3}}`, "", `spec.even: Invalid value: 3: failed rule: self % 2 == 0`},
		{"transition of a new object", `{"spec": {"n": 1, "grow": 1}}`, "", ``},
		{"transition", `{"spec": {"n": 1, "grow": 1}}`, `{"spec": {"n": 1, "grow": 2}}`, `spec.grow: Invalid value: 1: it shrank`},
		{"wrong before", `{"spec": {"n": 2, "e": "z"}}`, `{"spec": {"n": 1, "e": "z"}}`, ``},
		{"another wrong value", `{"spec": {"n": 2, "s": "c"}}`, `{"spec": {"n": 2, "s": "b"}}`,
			`spec.s: Invalid value: "c": spec.s in body should match '^a+$'`},
		{"rule broken before", `{"spec": {"n": 2, "even": 3}}`, `{"spec": {"n": 1, "even": 3}}`,
			`warning: spec.even: Invalid value: 3: failed rule: self % 2 == 0`},
		{"resource", `{"spec": {"n": 1, "tmpl": {"kind": "Pod"}}}`, "", `spec.tmpl.apiVersion: Required value
<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation`},
	} {
		t.Run(c.name, func(t *testing.T) {
			object, live := parse(t, c.object), parse(t, c.live)
			var said warnings
			errs := r.Values(t.Context(), object, live)
			errs = append(errs, r.Resources(t.Context(), object)...)
			errs = r.CEL(t.Context(), errs, object, live, &said)
			if got := texts(errs, said); got != c.want {
				t.Errorf("%v is\n%s\nwant\n%s", object, got, c.want)
			}
		})
	}
}

func texts(errs field.ErrorList, said warnings) string {
	var lines []string
	for _, err := range errs {
		lines = append(lines, err.Error())
	}
	for _, w := range said {
		lines = append(lines, "warning: "+w)
	}
	return strings.Join(lines, "\n")
}

// TestStatus checks that a write of the status validates only the status.
func TestStatus(t *testing.T) {
	r, err := rules.Compile(parse(t, schema))
	if err != nil {
		t.Fatal(err)
	}
	live := parse(t, `{"spec": {"n": -1}, "status": {"phase": "up"}}`)
	for status, want := range map[string]string{
		`{"phase": "down"}`: "",
		`{"phase": "left"}`: `status.phase: Unsupported value: "left": supported values: "up", "down"`,
		`[]`:                `status: Invalid value: "array":  in body must be of type object: "array"`,
		`null`:              `status: Invalid value: "null":  in body must be of type object: "null"`,
	} {
		object := live.With("status", parse(t, status))
		if got := texts(r.StatusValues(t.Context(), object, live), nil); got != want {
			t.Errorf("%s is %s, want %s", status, got, want)
		}
	}
	bare := live.With("status", value.Value{})
	if got := texts(r.StatusValues(t.Context(), bare.With("status", value.Null()), bare), nil); got != "" {
		t.Errorf("null in the place of nothing is %s", got)
	}
}

// TestNoRules checks that a version without a schema has no rules.
func TestNoRules(t *testing.T) {
	r, err := rules.Compile(value.Value{})
	if r != nil || err != nil {
		t.Fatal(r, err)
	}
	object := parse(t, `{"spec": 1}`)
	errs := append(r.Values(t.Context(), object, object), r.StatusValues(t.Context(), object, object)...)
	errs = append(errs, r.Resources(context.Background(), object)...)
	if errs = r.CEL(context.Background(), errs, object, object, nil); len(errs) > 0 {
		t.Error(errs)
	}
}

// TestCompileInBackground uses rules while they are compiled.
func TestCompileInBackground(t *testing.T) {
	r, err := rules.Compile(parse(t, schema))
	if err != nil {
		t.Fatal(err)
	}
	object := parse(t, `{"spec": {"n": 1, "even": 3}}`)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			if errs := r.CEL(t.Context(), nil, object, value.Value{}, nil); len(errs) != 1 {
				t.Error(errs)
			}
		})
	}
	wait.Wait()
}

func TestCompileErrors(t *testing.T) {
	for text, want := range map[string]string{
		`{"type": 1}`: "openAPIV3Schema: json: cannot unmarshal number",
		`{"type": "object", "$ref": "#/definitions/a"}`: "$ref",
	} {
		if _, err := rules.Compile(parse(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func parse(t testing.TB, text string) value.Value {
	t.Helper()
	if text == "" {
		return value.Value{}
	}
	v, err := value.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return v
}

// BenchmarkGood compares the cost of a valid object here and in the library. The library judges the same object with one error.
func BenchmarkGood(b *testing.B) {
	r, err := rules.Compile(parse(b, schema))
	if err != nil {
		b.Fatal(err)
	}
	good := parse(b, `{"spec": {"n": 1, "e": "x", "s": "aa", "arr": ["a", "b"], "ios": "a", "xo": {"a": "b"}, "i32": 7}}`)
	wrong := good.With("spec", good.Get("spec").With("n", value.Int(-1)))
	b.Run("good", func(b *testing.B) {
		for b.Loop() {
			if r.Values(b.Context(), good, value.Value{}) != nil {
				b.Fatal("wrong")
			}
		}
	})
	b.Run("wrong", func(b *testing.B) {
		for b.Loop() {
			if r.Values(b.Context(), wrong, value.Value{}) == nil {
				b.Fatal("good")
			}
		}
	})
}

// BenchmarkCEL measures rules in CEL on a good object.
func BenchmarkCEL(b *testing.B) {
	r, err := rules.Compile(parse(b, schema))
	if err != nil {
		b.Fatal(err)
	}
	live := parse(b, `{"spec": {"n": 1, "grow": 1, "even": 2}}`)
	object := live.With("spec", live.Get("spec").With("grow", value.Int(2)))
	for b.Loop() {
		if r.CEL(b.Context(), nil, object, live, nil) != nil {
			b.Fatal("wrong")
		}
	}
}
