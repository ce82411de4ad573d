package api

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestWarnings(t *testing.T) {
	var w Warnings
	w.Add("a", "", "b", "a", "control \x01 character")
	w.AddStrict([]string{"error converting YAML to JSON: yaml: unmarshal errors:\n  line 1: x\n  line 2: y"})
	h := http.Header{}
	w.Write(h)
	want := []string{`299 - "a"`, `299 - "b"`, `299 - "line 1: x"`, `299 - "line 2: y"`}
	if got := h.Values("Warning"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestManyWarnings adds more warnings than an answer may have. Each is cut, and the last are dropped.
func TestManyWarnings(t *testing.T) {
	var w Warnings
	for i := range 30 {
		w.Add(strings.Repeat("é", 300) + string(rune('a'+i)))
	}
	h := http.Header{}
	w.Write(h)
	got := h.Values("Warning")
	if len(got) != 16 || !strings.Contains(got[0], strings.Repeat("é", 256)+`"`) {
		t.Errorf("%d warnings, the first %q", len(got), got[0])
	}
}
