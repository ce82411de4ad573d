package deed_test

import (
	"os"
	"strings"
	"testing"
)

// TestReadmeSample finds the sample of README.md in a program of another module, which the release's check compiles and runs.
func TestReadmeSample(t *testing.T) {
	const file = "internal/release/testdata/consumers/library/apply.go"
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(readme), "```go\n")
	sample, _, _ := strings.Cut(rest, "```")
	if squeeze := func(s string) string { return strings.Join(strings.Fields(s), " ") }; !found || !strings.Contains(squeeze(string(program)), squeeze(sample)) {
		t.Errorf("%s does not have the sample of README.md:\n%s", file, sample)
	}
}
