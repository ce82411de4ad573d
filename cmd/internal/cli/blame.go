package cli

import (
	"bufio"
	"errors"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/cmd/internal/blame"
	"github.com/deed-project/deed/cmd/internal/page"
	"github.com/deed-project/deed/cmd/internal/report"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/selector"
	"github.com/deed-project/deed/managedfields"
)

// blameFlags holds the flags of deed blame.
type blameFlags struct {
	stored   storedFlags
	managers []string
	times    choice
	format   choice
	color    colorFlags
}

func (c *cli) blameCommand() *cobra.Command {
	var f blameFlags
	cmd := &cobra.Command{
		Use:   "blame [TYPE/NAME...] -f LIVE",
		Short: "Show objects with the owners of every line",
		Long: `Show objects as YAML with all owners of every line, each with its operation, the
subresource if it wrote through one, and how long ago it wrote.

` + selectionUsage + `

The schema says whether items of lists are identified by keys or by value. An
atomic list or object has one set of owners: its lines show them with ^ in
front. The dash of an item is owned too: owners of the item that do not own the
field behind the dash are marked (item). Lines without owners are marked
(nobody): values that the server filled in, identity such as metadata.name, and
fields that have lost their owners. A line that only opens an object or a list
has owners only if an update added it.

-o text has the owners in front. -o yaml has them behind, as comments: the
output is YAML. -o json has all parts of every line. -o html is a page with a
color for every manager, for browsers.`,
		Example: `  # Who owns what?
  kubectl get deployment web -o yaml --show-managed-fields | deed blame

  # The lines in which autoscaler owns something, with exact times
  deed blame -f live.yaml --manager autoscaler --time full

  # YAML with comments, and a page for browsers
  deed blame -f live.yaml -o yaml
  deed blame -f live.yaml -o html > blame.html`,
		RunE: func(*cobra.Command, []string) error { return c.blame(f) },
	}
	f.stored.chosen.take(cmd)
	flags := cmd.Flags()
	flags.SortFlags = false
	f.stored.registerInput(flags)
	flags.Var(list{&f.managers}, "manager", "show only lines that the manager of this `name` owns; repeatable")
	f.times = choice{report.TimeRelative, []string{report.TimeRelative, report.TimeFull, report.TimeNone}}
	flags.Var(&f.times, "time", "how times are shown")
	f.format = choice{report.FormatText, []string{report.FormatText, report.FormatYAML, report.FormatJSON, report.FormatHTML}}
	flags.VarP(&f.format, "output", "o", "output format")
	f.color.register(flags)
	registerSchemas(flags, &f.stored.schemas)
	return cmd
}

// blame runs deed blame.
func (c *cli) blame(f blameFlags) error {
	now, err := clock()
	if err != nil {
		return err
	}
	objects, types, err := c.stored(f.stored)
	if err != nil || types == nil {
		return err
	}
	if err := c.knownManagers("--manager", f.managers, objects); err != nil {
		return err
	}
	names := report.OwnerNames{Times: f.times.value, Now: now()}
	p := report.NewBlamePrinter(c.out, f.format.value, names, f.color.painter(c.out), page.Execute, objects.several)
	for o := range objects.objects {
		e, ok := c.TypeOf(o, types, managedfields.Config{})
		if !ok {
			continue
		}
		c.Untracked(o)
		lines, err := blame.Annotate(o, e)
		c.EntryProblems(o, err)
		if len(f.managers) > 0 {
			lines = blame.OwnedBy(lines, f.managers)
		}
		if len(lines) > 0 {
			p.Print(blame.Object{Object: o, Lines: lines})
		}
	}
	return c.end(p.Close())
}

// flush flushes out and reports err, an earlier error of the same output, if there is one.
func (c *cli) flush(out *bufio.Writer, err error) error {
	return c.end(errors.Join(err, out.Flush()))
}

// end reports the error that kept output from being written, if any.
func (c *cli) end(err error) error {
	if err != nil {
		c.Failed(secret.Open.Error(err))
	}
	return nil
}

// knownManagers returns an error if a name is not the name of a manager in the objects.
func (c *cli) knownManagers(flag string, names []string, objects *survey) error {
	if len(names) == 0 {
		return nil
	}
	return selector.KnownNames(flag, names, objects.managers())
}
