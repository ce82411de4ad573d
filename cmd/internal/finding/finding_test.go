package finding

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestCodes checks that --ignore-code knows exactly the codes that the pages about checking explain.
func TestCodes(t *testing.T) {
	var explained, known []string
	for _, page := range []string{"../../../docs/check.md", "../../../docs/cli/check.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if code, _, ok := strings.Cut(strings.TrimPrefix(line, "| `"), "`"); ok && strings.HasPrefix(line, "| `") {
				explained = append(explained, code)
			}
		}
	}
	for _, code := range Codes {
		known = append(known, string(code))
	}
	if !slices.Equal(known, explained) {
		t.Errorf("codes are %q, but the pages explain %q", known, explained)
	}
}
