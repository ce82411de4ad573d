package jsontext_test

import (
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/jsontext"
)

// TestRough passes values with strings of all lengths and escapes at all places.
func TestRough(t *testing.T) {
	for n := range 200 {
		long := strings.Repeat("x", n)
		for _, s := range []string{long, `\"` + long, long + `\"`, long + `\\`, long + `\"` + long + `\\\"` + long, long + `]},"`[:3]} {
			for _, text := range []string{`"` + s + `"`, `{"` + s + `":[1,"` + s + `",{}],"b":` + "\n" + `"` + s + `"}`} {
				r := jsontext.Rough{Text: []byte(" " + text + `,"y"`)}
				if !r.Value() || r.Pos != 1+len(text) {
					t.Fatalf("%s ends at %d, want %d", r.Text, r.Pos, 1+len(text))
				}
				cut := text[:len(text)-1]
				r = jsontext.Rough{Text: []byte(cut)}
				if r.Value() || r.Pos != len(cut) {
					t.Fatalf("%s ends, at %d", cut, r.Pos)
				}
			}
		}
	}
	for text, end := range map[string]int{"": 0, " ": 1, ",": 0, "]": 0, "1": 1, "1 ": 1, "tru,": 3} {
		r := jsontext.Rough{Text: []byte(text)}
		if ok := r.Value(); ok != (end > 0 && text != " ") || r.Pos != end {
			t.Errorf("%q: %v at %d, want to be at %d", text, ok, r.Pos, end)
		}
	}
}
