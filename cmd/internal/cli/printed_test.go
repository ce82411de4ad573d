package cli

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"testing"

	"github.com/deed-project/deed/cmd/internal/notice"
)

// The scripts, and the pages of docs/cli, run each command line that deed prints to them, as it is printed, in a copy of the
// directory: see printed.

// printedVariable names the environment variable with the file that takes the command lines which deed printed.
const printedVariable = "DEED_TEST_PRINTED"

// printedLine is a command line of deed in its output: a line of its own that is indented, or in quotes in a sentence. The
// plugin calls itself kubectl deed.
var printedLine = regexp.MustCompile(`(?m)^ +((?:kubectl )?deed [a-z].*)$|'((?:kubectl )?deed [a-z][^\n]*)'`)

// runPrinting is main for the commands of scripts: it runs deed, and then what deed printed. What is wrong with that goes to
// the file that printedVariable names.
func runPrinting() int {
	log := os.Getenv(printedVariable)
	args := os.Args[1:]
	if log == "" {
		return Run(args, os.Stdin, os.Stdout, os.Stderr)
	}
	var in, out bytes.Buffer
	var stdin io.Reader = os.Stdin
	if info, err := os.Stdin.Stat(); err == nil && info.Mode()&os.ModeCharDevice == 0 {
		stdin = io.TeeReader(os.Stdin, &in) // a terminal is none behind a reader
	}
	code := Run(args, stdin, io.MultiWriter(os.Stdout, &out), io.MultiWriter(os.Stderr, &out))
	if strings.Contains(out.String(), "Usage:\n  ") {
		return code // a help, whose examples have scripts of their own: see TestExamples
	}
	p := printed{args: args, in: in.Bytes(), code: code, before: out.String()}
	for _, found := range printedLine.FindAllStringSubmatch(out.String(), -1) {
		line := found[1] + found[2]
		said := "ran"
		if err := p.check(line); err != nil {
			said = "FAILED: " + strings.ReplaceAll(err.Error(), "\n", "\n\t")
		}
		note(log, fmt.Sprintf("%s\t%s\n", line, said))
	}
	return code
}

// note adds text to the file called name.
func note(name, text string) {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o666)
	if err == nil {
		_, err = f.WriteString(text)
		f.Close()
	}
	if err != nil {
		panic(err)
	}
}

// printed is a run of deed that printed command lines.
type printed struct {
	args   []string
	in     []byte // what it read from standard input
	code   int
	before string // what it printed
}

// check runs line as it was printed, and reports if it is no command line of deed, or does not do what the text around it says.
func (p printed) check(line string) error {
	words, err := shellWords(strings.TrimPrefix(line, "kubectl "))
	if err != nil {
		return err
	}
	words = words[1:]
	if words[len(words)-1] == "--help" {
		if code := Run(words, nil, io.Discard, io.Discard); code != 0 {
			return fmt.Errorf("exit code %d", code)
		}
		return nil
	}
	code, out, err := p.inCopy(words)
	switch {
	case err != nil:
		return err
	case code == notice.ExitInternal, code > max(p.code, notice.ExitFinding), strings.Contains(out, "See 'deed "):
		return fmt.Errorf("exit code %d: %s", code, out)
	}
	if words[0] != "migrate" || words[len(words)-1] == "kubectl" {
		return nil
	}
	return p.endsConflicts(words)
}

// hint is in what deed prints of conflicts with client-side apply.
const hint = "An owner holds what kubectl has set without --server-side"

// endsConflicts wants that the migration words, when it is carried out, leaves no conflict with client-side apply to the
// command that printed it.
func (p printed) endsConflicts(words []string) error {
	if live := slices.Index(words, "--live"); words[live+1] == "-" {
		return nil // it is carried out in a cluster
	}
	code, out, err := p.inCopy(slices.Concat(words, []string{"--write"}), p.args)
	if err != nil || strings.Contains(out, hint) {
		return fmt.Errorf("after the migration, exit code %d: %v %s", code, err, out)
	}
	return nil
}

// inCopy runs command lines one after the other in a copy of the current directory, and returns the exit code and the
// output of the last one.
func (p printed) inCopy(lines ...[]string) (code int, out string, err error) {
	here, err := os.Getwd()
	if err != nil {
		return 0, "", err
	}
	dir, err := os.MkdirTemp(filepath.Dir(os.Getenv(printedVariable)), "copy") // not into itself
	if err != nil {
		return 0, "", err
	}
	defer os.RemoveAll(dir)
	defer os.Chdir(here)
	if err := os.CopyFS(filepath.Join(dir, "w"), os.DirFS(here)); err != nil {
		return 0, "", err
	}
	if err := os.Chdir(filepath.Join(dir, "w")); err != nil {
		return 0, "", err
	}
	for _, words := range lines {
		var b bytes.Buffer
		code, out = Run(words, bytes.NewReader(p.in), &b, &b), b.String()
		out = b.String()
	}
	return code, out, nil
}

// shellWords returns the words of a command line, which has no variables, pipes or comments: a shell prints them.
func shellWords(line string) ([]string, error) {
	out, err := exec.Command("sh", "-c", "for word in "+strings.TrimSpace(line)+"; do printf '%s\\0' \"$word\"; done").Output()
	if err != nil {
		return nil, fmt.Errorf("sh cannot read %q: %w", line, err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), nil
}

// wantPrinted collects the command lines that deed prints in scripts until t ends, and reports those that do not run. It returns
// the file that they go to. t fails, too, if none of the lines begins as one of those in each.
func wantPrinted(t *testing.T, each ...string) string {
	log := filepath.Join(t.TempDir(), "printed")
	t.Cleanup(func() {
		text, err := os.ReadFile(log)
		if err != nil && len(each) > 0 {
			t.Error(err)
		}
		count := map[string]int{}
		for entry := range strings.SplitSeq(strings.ReplaceAll(string(text), "\n\t", "\x00"), "\n") {
			line, said, _ := strings.Cut(entry, "\t")
			if strings.HasPrefix(said, "FAILED") {
				t.Errorf("deed prints %q, which %s", line, strings.ReplaceAll(said, "\x00", "\n\t"))
			}
			for _, begin := range each {
				if strings.HasPrefix(line, begin) {
					count[begin]++
				}
			}
		}
		if strings.Contains(flag.Lookup("test.run").Value.String(), "/") {
			return // some of the scripts were left out
		}
		for _, begin := range each {
			if count[begin] == 0 {
				t.Errorf("no script has deed print a command line that begins with %q", begin)
			}
		}
	})
	return log
}
