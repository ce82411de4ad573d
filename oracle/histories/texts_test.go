package histories

import "testing"

func TestSameStatus(t *testing.T) {
	status := func(code, message string) []byte { return []byte(`{"message":"` + message + `","code":` + code + `}`) }
	for _, c := range []struct {
		code, reference, deed string
		want                  bool
	}{
		{"409", "conflict: .a", "conflict: .b", false},
		{"500", "no (x): .a: expected map, got &{<nil> <nil> <int64 Value> 3}", "no (x): .a: expected map, got &{1}", true},
		{"500", "no (x): .a: expected map, got &{0xc0c0 <nil> x 6}", "no (x): .a: expected list, got &{x}", false},
		{"500", "no (x): .a: expected map, got &{<nil> <nil> x 6}", "no (y): .a: expected map, got &{x}", false},
		{"500", "no (x): .a: expected map, got &{1}", "no (x): .a: expected map, got &{2}", false},
		{"500", `no: .a: undeclared`, `no: errors:\n  .b: undeclared\n  .a: undeclared`, true},
		{"500", `no: .c: undeclared`, `no: errors:\n  .b: undeclared\n  .a: undeclared`, false},
		{"500", `no: errors:\n  .b: undeclared\n  .a: undeclared`, `no: .a: undeclared`, false},
		{"500", `.a: undeclared`, `errors:\n  .b: undeclared\n  .a: undeclared`, true},
		{"500", `no: .a[k=1000000].b: undeclared`, `no: .a[k=1e+06].b: undeclared`, false},
		{"500", `no: .c[k=a=1b=\"x\"].k: expected boolean`, `no: .c[k=b=\"x\"a=1].k: expected boolean`, true},
		{"500", `no: .c[k=a=1b=\"x\"].k: expected boolean`, `no: .c[k=b=\"x\"a=2].k: expected boolean`, false},
		{"500", `no: .c[k=a\n=1b=2].k: expected boolean`, `no: .c[k=b=2a\n=1].k: expected boolean`, true},
		{"500", `failed to decode managed fields: missing fieldsType in managed fields entry 0`,
			`failed to decode managed fields: metadata.managedFields[0], manager \"a\": missing fieldsType in managed fields entry 0`, false},
		{"500", `failed to decode managed fields: error decoding versioned set from &Entry{x}: error decoding set: EOF`,
			`failed to decode managed fields: metadata.managedFields[0]: error decoding set: k:{ is no key`, true},
		{"500", `failed to decode managed fields: error decoding versioned set from &Entry{x}: error decoding set: EOF`,
			`failed to decode managed fields: metadata.managedFields[0]: apiVersion must not be empty`, false},
	} {
		if got := sameStatus(status(c.code, c.reference), status(c.code, c.deed)); got != c.want {
			t.Errorf("%s\n%s\nare the same: %t", c.reference, c.deed, got)
		}
	}
}
