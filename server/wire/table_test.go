package wire

import (
	"testing"
	"time"

	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/value"
)

// TestAppendCell makes cells from texts and compares them with the cells of the parsed values.
func TestAppendCell(t *testing.T) {
	table := Table{Now: time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)}
	for _, text := range []string{
		``, `null`, `""`, `"a"`, `"<\"\\é\u2028"`, `0`, `7`, `-7`, `123456789012345678`, `12345678901234567890`, `1.5`, `1e30`, `true`, `false`, `{}`, `[1,"a"]`,
		`{"a":{"b":1}}`, `"2026-01-02T11:00:00Z"`, `"2026-01-02T11:00:00\u005a"`, `"0001-01-01T00:00:00Z"`,
	} {
		var v value.Value
		if text != "" {
			var err error
			if v, err = value.Parse([]byte(text)); err != nil {
				t.Fatal(err)
			}
			text = v.String()
		}
		for _, typ := range []string{"string", "integer", "number", "boolean", "date"} {
			c := catalog.Column{Type: typ}
			got, err := table.AppendCell([]byte("x"), &c, []byte(text))
			if want := "x" + table.Cell(c, v).String(); err != nil || string(got) != want {
				t.Errorf("%s as %s is %s, %v, want %s", text, typ, got, err, want)
			}
		}
	}
}
