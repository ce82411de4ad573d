package cli

import (
	"bufio"
	"errors"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/cmd/internal/blame"
	"github.com/deed-project/deed/cmd/internal/report"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/selector"
	"github.com/deed-project/deed/managedfields"
)

// blameFlags are those of deed blame.
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
		Long: `Show objects as YAML with the owners of every line: all of them, each with the
operation, the subresource if it wrote through one, and how long ago that was.

` + selectionUsage + `

Items of lists are told apart as the schema says, by keys or by value. A list or
object that is atomic is owned as a whole: the lines in it have its owners, with
^ in front. The dash of an item is owned too: owners of the item who do not own
what follows the dash are marked (item). Nobody owns what the server filled in,
identity such as metadata.name, or what lost its owners: (nobody). Lines that
consist of what is below them have owners only if an update added them.

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
	flags.StringArrayVar(&f.managers, "manager", nil, "show only lines that the manager of this `name` owns; repeatable")
	f.times = choice{report.TimeRelative, []string{report.TimeRelative, report.TimeFull, report.TimeNone}}
	flags.Var(&f.times, "time", "how times are shown")
	f.format = choice{report.FormatText, []string{report.FormatText, report.FormatYAML, report.FormatJSON, report.FormatHTML}}
	flags.VarP(&f.format, "output", "o", "output format")
	f.color.register(flags)
	registerSchemas(flags, &f.stored.schemas)
	return cmd
}

// blame is deed blame.
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
	p := report.NewBlamePrinter(c.out, f.format.value, names, f.color.painter(c.out), objects.several)
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

// flush ends output, which may have failed before.
func (c *cli) flush(out *bufio.Writer, err error) error {
	return c.end(errors.Join(err, out.Flush()))
}

// end reports what kept output from being written, if anything did.
func (c *cli) end(err error) error {
	if err != nil {
		c.Failed(secret.Open.Error(err))
	}
	return nil
}

// knownManagers refuses names that are no manager's in any of the objects.
func (c *cli) knownManagers(flag string, names []string, objects *survey) error {
	if len(names) == 0 {
		return nil
	}
	return selector.KnownNames(flag, names, objects.managers())
}
