package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const (
	docPages = "../../../docs/cli"
	docFiles = "../../../testdata/docs"   // the working directory of the commands in the pages
	docTales = "../../../testdata/replay" // likewise, as the subdirectory replay
)

// TestDocs runs the commands in docs/cli and compares their output with the pages. A page has commands in blocks such as
//
//	```console
//	$ deed apply -f web.yaml --live live.yaml |
//	>   head -3
//	what it prints, on standard output and standard error
//	$ echo $?
//	0
//	```
//
// A shell runs the commands of one page in a copy of testdata/docs, which has a copy of testdata/replay in it. The time is always
// 2026-01-01T00:00:00Z. With -update, the test writes the actual output into the pages.
func TestDocs(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no shell to run the commands")
	}
	pages, err := filepath.Glob(filepath.Join(docPages, "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages in %s: %v", docPages, err)
	}
	printed := wantPrinted(t)
	for _, page := range pages {
		t.Run(strings.TrimSuffix(filepath.Base(page), ".md"), func(t *testing.T) {
			t.Parallel()
			runPage(t, docRunner{t: t, shell: shell, dir: t.TempDir(), printed: printed}, page)
		})
	}
}

func runPage(t *testing.T, p docRunner, page string) {
	want, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.CopyFS(p.dir, os.DirFS(docFiles)),
		os.CopyFS(filepath.Join(p.dir, "replay"), os.DirFS(docTales))); err != nil {
		t.Fatal(err)
	}
	got := p.page(string(want))
	switch {
	case p.commands == 0:
		t.Error("no commands in this page")
	case got == string(want):
	case *update:
		if err := os.WriteFile(page, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("commands print something else than the page says; -update re-records it. The page would be:\n%s", got)
	}
}

// docRunner runs the commands of one page.
type docRunner struct {
	t          *testing.T
	shell, dir string
	printed    string // the file for command lines that are printed, see wantPrinted
	status     int    // of the last command
	commands   int    // so far
}

// page returns text with the actual output of its commands.
func (p *docRunner) page(text string) string {
	var out strings.Builder
	command, inside := "", false
	flush := func() {
		if command != "" {
			out.WriteString(p.run(command))
		}
		command = ""
	}
	for line := range strings.Lines(text) {
		switch {
		case !inside:
			inside = line == "```console\n"
		case line == "```\n":
			flush()
			inside = false
		case strings.HasPrefix(line, "$ "):
			flush()
			command = line[2:]
		case strings.HasPrefix(line, "> ") && continues(command):
			command += line[2:]
		default:
			continue // the output of the last command
		}
		out.WriteString(line)
	}
	return out.String()
}

// continues reports whether a shell would ask for more of command.
func continues(command string) bool {
	command = strings.TrimRight(command, "\n")
	return strings.HasSuffix(command, `\`) || strings.HasSuffix(command, "|")
}

// run returns the output of command.
func (p *docRunner) run(command string) string {
	p.commands++
	cmd := exec.Command(p.shell, "-c", fmt.Sprintf("(exit %d)\n%s", p.status, command))
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), epochVariable+"=1767225600", "PWD="+p.dir, printedVariable+"="+p.printed,
		"HELM_BIN="+filepath.Join(p.dir, "bin", "helm"))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	p.status = 0
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			p.t.Fatal(err)
		}
		p.status = exit.ExitCode()
	}
	if n := out.Len(); n > 0 && out.Bytes()[n-1] != '\n' {
		out.WriteByte('\n')
	}
	return out.String()
}

// TestPages checks that each command has a page.
func TestPages(t *testing.T) {
	for _, cmd := range newCLI(nil, nil, nil).rootCommand().Commands() {
		if _, err := os.Stat(filepath.Join(docPages, cmd.Name()+".md")); err != nil && cmd.Name() != "help" {
			t.Error(err)
		}
	}
}
