package storetest

import (
	"slices"
	"testing"
)

// TestSteps checks that the model refuses impossible answers.
func TestSteps(t *testing.T) {
	stored, maybe := register{5, "a"}, register{unknown, "a"}
	for _, c := range []struct {
		name string
		from register
		op   operation
		got  answer
		want []register
	}{
		{"a read", stored, operation{kind: "get"}, answer{5, "a", "ok"}, []register{stored}},
		{"a read of something else", stored, operation{kind: "get"}, answer{5, "b", "ok"}, nil},
		{"a read of an old revision", stored, operation{kind: "get"}, answer{4, "a", "ok"}, nil},
		{"a record that is missing", stored, operation{kind: "get"}, answer{outcome: "missing"}, nil},
		{"a read of what may be there", maybe, operation{kind: "get"}, answer{7, "a", "ok"}, []register{{7, "a"}}},
		{"a read of what may not be there", maybe, operation{kind: "get"}, answer{7, "b", "ok"}, nil},
		{"a write", stored, operation{kind: "put", text: "b", expect: 5}, answer{6, "", "ok"}, []register{{6, "b"}}},
		{"a write that expects something else", stored, operation{kind: "put", text: "b", expect: 4}, answer{6, "", "ok"}, nil},
		{"a write of an old revision", stored, operation{kind: "put", text: "b", expect: 5}, answer{4, "", "ok"}, nil},
		{"a conflict", stored, operation{kind: "put", expect: 4}, answer{5, "a", "conflict"}, []register{stored}},
		{"a conflict without a reason", stored, operation{kind: "put", expect: 5}, answer{5, "a", "conflict"}, nil},
		{"a delete", stored, operation{kind: "delete", expect: 5}, answer{outcome: "ok"}, []register{{}}},
		{"a delete that expects nothing", stored, operation{kind: "delete"}, answer{outcome: "ok"}, []register{{}}},
		{"a delete of nothing", register{}, operation{kind: "delete", expect: 5}, answer{outcome: "ok"}, nil},
		{"a delete of what is missing", register{}, operation{kind: "delete"}, answer{outcome: "missing"}, []register{{}}},
		{"a write nobody knows of", stored, operation{kind: "put", text: "b", expect: 5}, answer{outcome: uncertain}, []register{{unknown, "b"}, stored}},
		{"a write that cannot be", stored, operation{kind: "put", text: "b", expect: 4}, answer{outcome: uncertain}, []register{stored}},
	} {
		if got := c.from.step(c.op, c.got); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
