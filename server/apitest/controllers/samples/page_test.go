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

// TestModules finds the lines that docs/testing.md wants in go.mod in the go.mod that the samples are built with.
func TestModules(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	module, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	_, block, found := strings.Cut(string(page), "```go.mod\nrequire (\n")
	block, _, closed := strings.Cut(block, ")\n```")
	if !found || !closed {
		t.Fatal("the page has no lines for go.mod")
	}
	for line := range strings.Lines(block) {
		if !strings.Contains(string(module), "\n"+line) {
			t.Errorf("the samples are not built with %q", line)
		}
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
