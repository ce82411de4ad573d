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

// The scripts and the pages of docs/cli run each command line that deed prints, unchanged, in a copy of the directory: see printed.

// printedVariable names the environment variable with the name of the file that collects the printed command lines.
const printedVariable = "DEED_TEST_PRINTED"

// printedLine matches a command line of deed in its output: an indented line, or quoted words in a sentence. The plugin calls itself
// kubectl deed.
var printedLine = regexp.MustCompile(`(?m)^ +((?:kubectl )?deed [a-z].*)$|'((?:kubectl )?deed [a-z][^\n]*)'`)

// runPrinting is main for the commands of scripts. It runs deed, and then the command lines that deed printed. Their results go to the file that
// printedVariable names. full is zero for deed, which leaves some commands to a second program: that runs the command lines then.
func runPrinting(full Full) int {
	log := os.Getenv(printedVariable)
	args := os.Args[1:]
	if log == "" || full.NewServer == nil && len(args) > 0 && slices.Contains([]string{"validate", "policy", "krm"}, args[0]) {
		return RunWith(full, args, os.Stdin, os.Stdout, os.Stderr)
	}
	var in, out bytes.Buffer
	var stdin io.Reader = os.Stdin
	if info, err := os.Stdin.Stat(); err == nil && info.Mode()&os.ModeCharDevice == 0 {
		stdin = io.TeeReader(os.Stdin, &in) // a terminal behind a reader is not recognized as one
	}
	code := RunWith(full, args, stdin, io.MultiWriter(os.Stdout, &out), io.MultiWriter(os.Stderr, &out))
	if strings.Contains(out.String(), "Usage:\n  ") {
		return code // a help; its examples have their own scripts, see TestExamples
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

// note appends text to the file called name.
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
	in     []byte // standard input
	code   int
	before string // its output
}

// check runs line unchanged. It returns an error if line is no command line of deed, or contradicts the text around it.
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

// hint is part of the report of conflicts with client-side apply.
const hint = "An owner holds what kubectl has set without --server-side"

// endsConflicts carries out the migration words and runs the printing command again. It returns an error if that still reports a conflict
// with client-side apply.
func (p printed) endsConflicts(words []string) error {
	if live := slices.Index(words, "--live"); words[live+1] == "-" {
		return nil // the migration runs in a cluster
	}
	code, out, err := p.inCopy(slices.Concat(words, []string{"--write"}), p.args)
	if err != nil || strings.Contains(out, hint) {
		return fmt.Errorf("after the migration, exit code %d: %v %s", code, err, out)
	}
	return nil
}

// inCopy runs command lines one after the other in a copy of the current directory. It returns the exit code and the output of the last
// one.
func (p printed) inCopy(lines ...[]string) (code int, out string, err error) {
	here, err := os.Getwd()
	if err != nil {
		return 0, "", err
	}
	dir, err := os.MkdirTemp(filepath.Dir(os.Getenv(printedVariable)), "copy") // outside of the copied directory
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

// shellWords returns the words of a command line without variables, pipes or comments. A shell splits them.
func shellWords(line string) ([]string, error) {
	out, err := exec.Command("sh", "-c", "for word in "+strings.TrimSpace(line)+"; do printf '%s\\0' \"$word\"; done").Output()
	if err != nil {
		return nil, fmt.Errorf("sh cannot read %q: %w", line, err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), nil
}

// wantPrinted returns the name of the file that collects the command lines that deed prints in scripts. When t ends, it reports the lines
// that do not run, and each prefix in each that no line begins with.
func wantPrinted(t *testing.T, each ...string) string {
	log := filepath.Join(t.TempDir(), "printed")
	if strings.Contains(flag.Lookup("test.run").Value.String(), "/") {
		each = nil // the pattern excludes some scripts
	}
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
		for _, begin := range each {
			if count[begin] == 0 {
				t.Errorf("no script has deed print a command line that begins with %q", begin)
			}
		}
	})
	return log
}
