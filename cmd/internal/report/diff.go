package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/deed-project/deed/cmd/internal/dryrun"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/managedfields"
)

// DiffVariable names the environment variable with the program that shows differences.
const DiffVariable = "KUBECTL_EXTERNAL_DIFF"

// Differ compares live objects with their outcomes.
type Differ struct {
	*notice.Log
	Out          io.Writer
	Paint        Painter
	ShowManaged  bool
	live, merged string   // directories
	names        []string // the names of the files in both directories
}

// Open creates the directories.
func (d *Differ) Open() (err error) {
	if d.live, err = os.MkdirTemp("", "LIVE-"); err != nil {
		return err
	}
	if d.merged, err = os.MkdirTemp("", "MERGED-"); err != nil {
		return errors.Join(err, os.RemoveAll(d.live))
	}
	return nil
}

// remove removes the directories.
func (d *Differ) remove() error { return errors.Join(os.RemoveAll(d.live), os.RemoveAll(d.merged)) }

// Add writes the files of one object. It writes no live file for a new object.
func (d *Differ) Add(t *dryrun.Task, outcome managedfields.Object) {
	stored, outcome := t.Given.View().Objects(t.Before(), outcome)
	if !d.ShowManaged {
		stored.Entries, outcome.Entries = nil, nil
	}
	name := diffName(outcome)
	d.names = append(d.names, name)
	err := writeObject(filepath.Join(d.merged, name), outcome)
	if t.Live != nil {
		err = errors.Join(err, writeObject(filepath.Join(d.live, name), stored))
	}
	if err != nil {
		d.Failed(t.Given.View().Error(err))
	}
}

// diffName returns the file name that kubectl uses for an object.
func diffName(o managedfields.Object) string {
	gvk, id := o.GVK(), manifest.IDOf(o)
	parts := []string{gvk.Version, gvk.Kind, id.Namespace, id.Name}
	if gvk.Group != "" {
		parts = append([]string{gvk.Group}, parts...)
	}
	return strings.NewReplacer("/", "_", `\`, "_", "\x00", "_").Replace(strings.Join(parts, "."))
}

// writeObject writes o, which is already masked, to a file.
func writeObject(path string, o managedfields.Object) error {
	v, err := secret.Product(o)
	if err != nil {
		return err
	}
	return os.WriteFile(path, v.AppendYAML(nil), 0o600)
}

// Close runs the program that shows differences, takes over its exit code, and removes the directories.
func (d *Differ) Close() error { return errors.Join(d.compare(), d.remove()) }

func (d *Differ) compare() error {
	program, args := diffProgram(os.Getenv(DiffVariable), d.live, d.merged)
	path, err := exec.LookPath(program)
	if err != nil {
		if os.Getenv(DiffVariable) != "" {
			return fmt.Errorf("%s: %w", DiffVariable, err)
		}
		return d.compareHere()
	}
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = d.Out, d.Log
	var text bytes.Buffer
	if bool(d.Paint) && os.Getenv(DiffVariable) == "" {
		cmd.Stdout = &text
	}
	err = cmd.Run()
	if err := d.print(text.Bytes()); err != nil {
		return err
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == notice.ExitFinding {
		d.Raise(notice.ExitFinding)
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	return nil
}

// diffProgram returns the program in the value of KUBECTL_EXTERNAL_DIFF and its arguments. It reads the value as kubectl does: given
// arguments come behind the directories.
func diffProgram(value string, directories ...string) (program string, args []string) {
	if value == "" {
		return "diff", append([]string{"-u", "-N"}, directories...)
	}
	words := strings.Split(value, " ")
	args = directories
	passed := regexp.MustCompile(`^[a-zA-Z0-9-=]+$`) // the arguments that kubectl passes on
	for _, word := range words[1:] {
		if passed.MatchString(word) {
			args = append(args, word)
		}
	}
	return words[0], args
}

// compareHere shows differences without another program.
func (d *Differ) compareHere() error {
	for _, name := range d.names {
		live, merged := filepath.Join(d.live, name), filepath.Join(d.merged, name)
		before, err := os.ReadFile(live)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		after, err := os.ReadFile(merged)
		if err != nil {
			return err
		}
		text := diff.Diff(live, before, merged, after)
		if len(text) == 0 {
			continue
		}
		d.Raise(notice.ExitFinding)
		if err := d.print(text); err != nil {
			return err
		}
	}
	return nil
}

// diffStyles holds the styles of lines of a difference by prefix. The first match counts.
var diffStyles = []struct {
	prefix string
	style  Style
}{{"--- ", strong}, {"+++ ", strong}, {"diff ", strong}, {"@@", cyan}, {"-", Red}, {"+", green}}

// print prints a difference, with a style for each kind of line.
func (d *Differ) print(text []byte) error {
	var out []byte
	for line := range strings.Lines(string(text)) {
		style := plain
		for _, s := range diffStyles {
			if strings.HasPrefix(line, s.prefix) {
				style = s.style
				break
			}
		}
		line, end := strings.CutSuffix(line, "\n")
		out = append(out, d.Paint.Paint(style, line)...)
		if end {
			out = append(out, '\n')
		}
	}
	_, err := d.Out.Write(out)
	return err
}
