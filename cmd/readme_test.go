package cmd_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/deed-project/deed/cmd/internal/cli"
)

// TestReadme runs the command that README.md begins with, and compares what it says with what README.md shows.
func TestReadme(t *testing.T) {
	t.Chdir("..")
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	const prefix = "    go run ./cmd/deed "
	_, rest, found := strings.Cut(string(readme), prefix)
	if !found {
		t.Fatalf("README.md has no command that begins with %q", prefix)
	}
	command, _, _ := strings.Cut(rest, "\n")
	var out, errs bytes.Buffer
	if code := cli.Run(strings.Fields(command), strings.NewReader(""), &out, &errs); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	for line := range strings.Lines(errs.String()) {
		if line = strings.TrimRight(line, "\n"); !strings.Contains(string(readme), "    "+line) {
			t.Errorf("README.md does not show the line %q", line)
		}
	}
}
