package cmd_test

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/deed-project/deed/cmd/internal/cli"
)

var update = flag.Bool("update", false, "write what the commands of README.md print into it")

// TestReadme runs the commands in the terminal of README.md in the folder testdata/readme, and compares their output with the text below
// each; -update rewrites it.
func TestReadme(t *testing.T) {
	const file, begin, end = "../README.md", "```console\n", "```\n"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(text), begin)
	shown, tail, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s shows no terminal", file)
	}
	t.Chdir("../testdata/readme")
	var printed strings.Builder
	for line := range strings.Lines(shown) {
		if command, ok := strings.CutPrefix(line, "$ deed "); ok {
			printed.WriteString(line + run(strings.Fields(strings.ReplaceAll(command, "'", ""))))
		}
	}
	switch {
	case printed.String() == shown:
	case *update:
		t.Chdir("../../cmd")
		if err := os.WriteFile(file, []byte(head+begin+printed.String()+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s shows\n%s\nand the commands print\n%s", file, shown, printed.String())
	}
}

// run returns the output of deed, standard output and standard error together.
func run(args []string) string {
	var out bytes.Buffer
	cli.Run(args, strings.NewReader(""), &out, &out)
	return out.String()
}

// TestFirstCommand runs the first command of README.md, which readers copy: it works in the root of the repository.
func TestFirstCommand(t *testing.T) {
	t.Chdir("..")
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(readme), "    go run ./cmd/deed ")
	if !found {
		t.Fatal("README.md has no command that begins with go run ./cmd/deed")
	}
	command, _, _ := strings.Cut(rest, "\n")
	if got := run(strings.Fields(command)); !strings.HasPrefix(got, "Apply failed with 1 conflict") {
		t.Errorf("%s prints\n%s", command, got)
	}
}
