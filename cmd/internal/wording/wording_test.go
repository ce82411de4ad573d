package wording

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/deed-project/deed/value"
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

// TestEdits compares the table of edits with their definition.
func TestEdits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
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

func TestShow(t *testing.T) {
	long := strings.Repeat("0123456789", 8)
	for _, c := range []struct {
		value value.Value
		want  string
	}{
		{value.Value{}, "(not set)"},
		{value.Null(), "null"},
		{value.String("<a> & \"b\"\n"), `"<a> & \"b\"\n"`},
		{value.String(`\u003c`), `"\\u003c"`},
		{value.String(long), `"` + long[:maxShown-1] + "… (80 characters)"},
		{value.List(value.String(long)), `["` + long[:maxShown-2] + "… (1 item, 84 characters)"},
	} {
		if got := Show(c.value); got != c.want {
			t.Errorf("show(%v) = %s, want %s", c.value, got, c.want)
		}
	}
	a, b := ShowPair(value.String(long+"a"), value.String(long+"b"))
	if !strings.HasSuffix(a, `89a" (81 characters)`) || !strings.HasSuffix(b, `89b" (81 characters)`) {
		t.Errorf("the difference is not shown: %s and %s", a, b)
	}
}
