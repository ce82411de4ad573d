package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/deed-project/deed/managedfields"
)

// TestPrintJSON compares the output with the JSON that encoding/json indents.
func TestPrintJSON(t *testing.T) {
	texts := []string{
		`{"apiVersion":"v1","kind":"A"}`, `{"a":{},"b":[],"c":null,"d":[[],[1,{"x":"<é\u2028\n>"}]],"e":{"f":{"g":1.5}},"":true}`,
	}
	for _, list := range []bool{false, true} {
		var out, want bytes.Buffer
		p := NewPrinter(&out, FormatJSON, true, list)
		for _, text := range texts[:map[bool]int{false: 1, true: 2}[list]] {
			o, err := managedfields.ParseObject([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Print(o); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, out.Bytes()); err != nil {
			t.Fatal(err)
		}
		if err := json.Indent(&want, compact.Bytes(), "", "    "); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSuffix(out.String(), "\n"); got != want.String() {
			t.Errorf("got\n%s\nwant\n%s", got, &want)
		}
	}
}
