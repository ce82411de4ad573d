package cli

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
	"github.com/spf13/cobra"

	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/managedfields"
)

// diffFlags are those of deed diff.
type diffFlags struct {
	writeFlags
	force       forceFlags
	color       colorFlags
	showManaged bool
	showSecrets bool
}

// diffVariable names the environment variable with the program that shows differences.
const diffVariable = "KUBECTL_EXTERNAL_DIFF"

func (c *cli) diffCommand() *cobra.Command {
	var f diffFlags
	cmd := &cobra.Command{
		Use:   "diff -f CONFIG [--live LIVE]",
		Short: "Show the difference that an apply would make, as kubectl diff --server-side does",
		Long: `Show the difference between live objects and what applying configurations would
make of them, as kubectl diff --server-side does.

The two are written to directories called LIVE-* and MERGED-*, in files called
group.version.Kind.namespace.name, and compared by diff -u -N, or by the program
that the environment variable KUBECTL_EXTERNAL_DIFF names. Where there is no
program called diff, deed compares them itself. --color leaves what a program of
your own prints as it is.

The values of Secrets are masked. An object with conflicts is not compared: the
conflicts are explained on standard error.

Objects are read and found as by deed apply. Exit codes: 0 no difference, 1 a
difference or a conflict, and more for errors.`,
		Example: `  # What would change?
  deed diff -f web.yaml --live live.yaml

  # The same in the eyes of another program, with fields that others own taken from them
  KUBECTL_EXTERNAL_DIFF="dyff between --omit-header --set-exit-code" deed diff -f web.yaml --live live.yaml --force-conflicts`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return c.diff(f) },
	}
	flags := cmd.Flags()
	f.register(flags, "kubectl")
	registerForce(flags, &f.force)
	f.color.register(flags)
	flags.BoolVar(&f.showManaged, "show-managed-fields", false, "compare metadata.managedFields too")
	flags.BoolVar(&f.showSecrets, "show-secrets", false, "show the values of Secrets")
	registerSchemas(flags, &f.schemas)
	return cmd
}

// diff is deed diff.
func (c *cli) diff(f diffFlags) error {
	force, err := f.force.force()
	if err != nil {
		return err
	}
	w, err := c.open(f.writeFlags, nil)
	if w == nil {
		return err
	}
	d := differ{log: c.log, out: c.out, paint: f.color.painter(c.out), showManaged: f.showManaged, showSecrets: f.showSecrets}
	if err := d.open(); err != nil {
		c.failed(err)
		return nil
	}
	defer d.remove()
	conflicts := conflictReport{log: c.log, manager: f.manager, paint: f.color.painter(c.err)}
	work := func(t *task) applied { return applyOne(t, f.manager, force) }
	forEach(c, "applying", w.configTasks(), work, func(t *task, x applied) {
		switch {
		case x.err != nil:
			refused(c.library, t, applyRole, x.err)
		case len(x.refused) > 0:
			conflicts.add(t.given, x.refused)
		default:
			forced(c.library, t.given, x.taken)
			d.add(t, x.outcome)
		}
	})
	conflicts.advise()
	if err := d.compare(); err != nil {
		c.failed(err)
	}
	return nil
}

// differ compares objects with what becomes of them.
type differ struct {
	*log
	out                      io.Writer
	paint                    painter
	showManaged, showSecrets bool
	live, merged             string   // directories
	names                    []string // of files in them
}

func (d *differ) open() (err error) {
	if d.live, err = os.MkdirTemp("", "LIVE-"); err != nil {
		return err
	}
	if d.merged, err = os.MkdirTemp("", "MERGED-"); err != nil {
		return errors.Join(err, os.RemoveAll(d.live))
	}
	return nil
}

func (d *differ) remove() {
	if err := errors.Join(os.RemoveAll(d.live), os.RemoveAll(d.merged)); err != nil {
		d.failed(err)
	}
}

// add writes the files of one object. Nothing is written where nothing is stored.
func (d *differ) add(t *task, outcome managedfields.Object) {
	stored := t.stored
	if !d.showSecrets {
		stored, outcome = maskObjects(stored, outcome)
	}
	if !d.showManaged {
		stored.Entries, outcome.Entries = nil, nil
	}
	name := diffName(outcome)
	d.names = append(d.names, name)
	err := writeObject(filepath.Join(d.merged, name), outcome)
	if t.live != nil {
		err = errors.Join(err, writeObject(filepath.Join(d.live, name), stored))
	}
	if err != nil {
		d.failed(err)
	}
}

// diffName returns what kubectl calls the file of an object.
func diffName(o managedfields.Object) string {
	gvk, metadata := o.GVK(), o.Content.Get("metadata")
	parts := []string{gvk.Version, gvk.Kind, metadata.Get("namespace").Str(), metadata.Get("name").Str()}
	if gvk.Group != "" {
		parts = append([]string{gvk.Group}, parts...)
	}
	return strings.NewReplacer("/", "_", `\`, "_", "\x00", "_").Replace(strings.Join(parts, "."))
}

func writeObject(path string, o managedfields.Object) error {
	v, err := o.Value()
	if err != nil {
		return err
	}
	return os.WriteFile(path, yaml.Append(nil, v), 0o600)
}

// compare runs the program that shows differences, and takes over its exit code.
func (d *differ) compare() error {
	program, args := diffProgram(os.Getenv(diffVariable), d.live, d.merged)
	path, err := exec.LookPath(program)
	if err != nil {
		if os.Getenv(diffVariable) != "" {
			return fmt.Errorf("%s: %w", diffVariable, err)
		}
		return d.compareHere()
	}
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = d.out, d.log
	var text bytes.Buffer
	if bool(d.paint) && os.Getenv(diffVariable) == "" {
		cmd.Stdout = &text
	}
	err = cmd.Run()
	if err := d.print(text.Bytes()); err != nil {
		return err
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == exitFinding {
		d.raise(exitFinding)
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	return nil
}

// diffArgument are the arguments that kubectl passes on.
var diffArgument = regexp.MustCompile(`^[a-zA-Z0-9-=]+$`)

// diffProgram returns the program in the value of KUBECTL_EXTERNAL_DIFF and its arguments, as kubectl reads it: the arguments
// that are given come behind the directories.
func diffProgram(value string, directories ...string) (program string, args []string) {
	if value == "" {
		return "diff", append([]string{"-u", "-N"}, directories...)
	}
	words := strings.Split(value, " ")
	args = directories
	for _, word := range words[1:] {
		if diffArgument.MatchString(word) {
			args = append(args, word)
		}
	}
	return words[0], args
}

// compareHere shows differences without another program.
func (d *differ) compareHere() error {
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
		d.raise(exitFinding)
		if err := d.print(text); err != nil {
			return err
		}
	}
	return nil
}

// diffStyles are those of the lines of a difference, by how they begin. The first that fits counts.
var diffStyles = []struct {
	prefix string
	style  style
}{{"--- ", strong}, {"+++ ", strong}, {"diff ", strong}, {"@@", cyan}, {"-", red}, {"+", green}}

// print prints a difference, with a style for each kind of line.
func (d *differ) print(text []byte) error {
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
		out = append(out, d.paint.paint(style, line)...)
		if end {
			out = append(out, '\n')
		}
	}
	_, err := d.out.Write(out)
	return err
}
