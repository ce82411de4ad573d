package cli

import (
	"bufio"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/internal/manifest"
	"github.com/deed-project/deed/internal/notice"
	"github.com/deed-project/deed/internal/report"
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

const formatHTML = "html"

func (c *cli) blameCommand() *cobra.Command {
	var f blameFlags
	cmd := &cobra.Command{
		Use:   "blame -f LIVE",
		Short: "Show objects with the owners of every line",
		Long: `Show objects as YAML with the owners of every line: all of them, each with the
operation, the subresource if it wrote through one, and how long ago that was.

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
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return c.blame(f) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.stored.registerInput(flags)
	flags.StringArrayVar(&f.managers, "manager", nil, "show only lines that the manager of this `name` owns; repeatable")
	f.times = choice{report.TimeRelative, []string{report.TimeRelative, report.TimeFull, report.TimeNone}}
	flags.Var(&f.times, "time", "how times are shown")
	f.format = choice{report.FormatText, []string{report.FormatText, report.FormatYAML, report.FormatJSON, formatHTML}}
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
	var all []report.Blamed
	for _, o := range objects {
		e, ok := c.TypeOf(o, types, managedfields.Config{})
		if !ok {
			continue
		}
		c.Untracked(o)
		lines, err := report.Annotate(o, e)
		c.EntryProblems(o, err)
		if len(f.managers) > 0 {
			lines = report.OwnedBy(lines, f.managers)
		}
		if len(lines) > 0 {
			all = append(all, report.Blamed{Object: o, Lines: lines})
		}
	}
	out := bufio.NewWriter(c.out)
	names := report.OwnerNames{Times: f.times.value, Now: now()}
	switch f.format.value {
	case report.FormatJSON:
		err = report.BlameJSON(out, all)
	case formatHTML:
		err = report.BlameHTML(out, all, names)
	default:
		p := report.BlamePrinter{Out: out, Names: names, Paint: f.color.painter(c.out), Comments: f.format.value == report.FormatYAML}
		p.All(all, len(objects) > 1)
	}
	return c.flush(out, err)
}

// flush ends output, which may have failed before.
func (c *cli) flush(out *bufio.Writer, err error) error {
	if err := errors.Join(err, out.Flush()); err != nil {
		fmt.Fprintf(c.Log, "deed: %v\n", err)
		c.Raise(notice.ExitInternal)
	}
	return nil
}

// knownManagers refuses names that are no manager's in any of the objects.
func (c *cli) knownManagers(flag string, names []string, objects []*manifest.Object) error {
	known := manifest.ManagerNames(objects)
	for _, name := range names {
		if !slices.Contains(known, name) {
			return report.UnknownName(flag, "manager", name, known)
		}
	}
	return nil
}
