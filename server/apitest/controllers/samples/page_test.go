package samples

import (
	"os"
	"strings"
	"testing"
)

// TestPage finds every sample of docs/testing.md in samples_test.go, line by line, but for what envtest looks like.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	run, err := os.ReadFile("samples_test.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for i, block := range strings.Split(string(page), "```") {
		sample, isGo := strings.CutPrefix(block, "go\n")
		if i%2 == 0 || !isGo || strings.Contains(sample, "envtest.Environment") {
			continue
		}
		if found++; !strings.Contains(squeezed(string(run)), strings.TrimSpace(squeezed(sample))) {
			t.Errorf("samples_test.go does not run this:\n%s", sample)
		}
	}
	if found < 5 {
		t.Errorf("the page has %d samples", found)
	}
}

// squeezed returns the lines of a text without what they are indented by.
func squeezed(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		out.WriteString(strings.TrimSpace(line) + "\n")
	}
	return out.String()
}
