package manifest

import (
	"fmt"
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	for _, c := range []struct{ stream, parts string }{
		{"", "0:"},
		{"a: 1\n", "0:a: 1\n"},
		{"---\na: 1\n", "0:---\na: 1\n"},
		{"a: 1\n---\nb: 2\n", "0:a: 1\n|1:---\nb: 2\n"},
		{"a: 1\n--- # c\r\nb: 2\n---", "0:a: 1\n|1:--- # c\r\nb: 2\n|3:---"},
		{"a: |\n  ---\n----\n--- {}", "0:a: |\n  ---\n----\n|3:--- {}"},
	} {
		var parts []string
		for _, p := range (&Text{Data: []byte(c.stream)}).split() {
			parts = append(parts, fmt.Sprintf("%d:%s", p.above, p.data))
		}
		if got := strings.Join(parts, "|"); got != c.parts {
			t.Errorf("split(%q) = %q, want %q", c.stream, got, c.parts)
		}
	}
}
