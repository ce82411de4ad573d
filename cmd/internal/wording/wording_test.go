package wording

import (
	"testing"

	"github.com/deed-project/deed/internal/testing/seeds"
)

func TestNearest(t *testing.T) {
	names := []string{"replicas", "revisionHistoryLimit", "selector", "template", "minReadySeconds", "ip"}
	for name, want := range map[string]string{
		"replcas":              "replicas",
		"Replicas":             "replicas",
		"repilcas":             "replicas",
		"selectors":            "selector",
		"revisonHistoryLimits": "revisionHistoryLimit",
		"minreadyseconds":      "minReadySeconds",
		"ips":                  "ip",
		"spec":                 "",
		"":                     "",
		"unheardOf":            "",
	} {
		if got := Nearest(name, names); got != want {
			t.Errorf("nearest(%q) = %q, want %q", name, got, want)
		}
	}
}

// TestEdits compares the table of edits with its definition.
func TestEdits(t *testing.T) {
	r := seeds.Rand(t)
	word := func() string {
		b := make([]byte, r.IntN(6))
		for i := range b {
			b[i] = "abc"[r.IntN(3)]
		}
		return string(b)
	}
	for range 2000 {
		a, b := word(), word()
		if got, want := edits(a, b), slowEdits(a, b); got != want {
			t.Fatalf("edits(%q, %q) = %d, want %d", a, b, got, want)
		}
	}
}

func slowEdits(a, b string) int {
	if a == "" || b == "" {
		return len(a) + len(b)
	}
	i, j := len(a)-1, len(b)-1
	n := slowEdits(a[:i], b[:j])
	if a[i] != b[j] {
		n = 1 + min(n, slowEdits(a[:i], b), slowEdits(a, b[:j]))
	}
	if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
		n = min(n, 1+slowEdits(a[:i-1], b[:j-1]))
	}
	return n
}
