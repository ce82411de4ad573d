package keywords

import "testing"

// TestPlace finds the values that errors without a field are about.
func TestPlace(t *testing.T) {
	for _, c := range []struct{ field, text, want string }{
		{"spec.n", "Required value", "spec.n"},
		{"<nil>", `Invalid value: "": "spec.xo" must validate one and only one schema (oneOf). Found none valid`, "spec.xo"},
		{"<nil>", `"spec.a\"b" must not validate the schema (not)`, `spec.a"b`},
		{"<nil>", `"" must validate at least one schema (anyOf)`, ""},
		{"<nil>", `Invalid value: "": Checked value must be of type integer with format int32 in spec.i32`, "spec.i32"},
		{"<nil>", "Invalid value: null: some validation rules were not checked because the object was invalid; in spec", ""},
	} {
		if got := Place(c.field, c.text); got != c.want {
			t.Errorf("%s: %s is about %q, want %q", c.field, c.text, got, c.want)
		}
	}
}
