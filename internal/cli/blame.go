package cli

import (
	"bufio"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

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
	f.times = choice{timeRelative, []string{timeRelative, timeFull, timeNone}}
	flags.Var(&f.times, "time", "how times are shown")
	f.format = choice{formatText, []string{formatText, formatYAML, formatJSON, formatHTML}}
	flags.VarP(&f.format, "output", "o", "output format")
	f.color.register(flags)
	registerSchemas(flags, &f.stored.schemas)
	return cmd
}

// blamed is an object with its lines.
type blamed struct {
	*object
	lines []blameLine
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
	var all []blamed
	for _, o := range objects {
		e, ok := c.typeOf(o, types, managedfields.Config{})
		if !ok {
			continue
		}
		c.untracked(o)
		lines, err := annotate(o, e)
		c.entryProblems(o, err)
		if len(f.managers) > 0 {
			lines = ownedBy(lines, f.managers)
		}
		if len(lines) > 0 {
			all = append(all, blamed{object: o, lines: lines})
		}
	}
	out := bufio.NewWriter(c.out)
	names := ownerNames{times: f.times.value, now: now()}
	switch f.format.value {
	case formatJSON:
		err = blameJSON(out, all)
	case formatHTML:
		err = blameHTML(out, all, names)
	default:
		p := blamePrinter{out: out, names: names, paint: f.color.painter(c.out), comments: f.format.value == formatYAML}
		p.all(all, len(objects) > 1)
	}
	return c.flush(out, err)
}

// flush ends output, which may have failed before.
func (c *cli) flush(out *bufio.Writer, err error) error {
	if err := errors.Join(err, out.Flush()); err != nil {
		fmt.Fprintf(c.log, "deed: %v\n", err)
		c.raise(exitInternal)
	}
	return nil
}

// knownManagers refuses names that are no manager's in any of the objects.
func (c *cli) knownManagers(flag string, names []string, objects []*object) error {
	known := managerNames(objects)
	for _, name := range names {
		if !slices.Contains(known, name) {
			return unknownName(flag, "manager", name, known)
		}
	}
	return nil
}

// unknownName says that name, the value of a flag, is none of the known names of what it should be.
func unknownName(flag, what, name string, known []string) error {
	hint := ""
	if meant := nearest(name, known); meant != "" {
		hint = fmt.Sprintf("; did you mean %q?", meant)
	} else if len(known) > 0 {
		hint = ", only " + quotedList(known)
	}
	return fmt.Errorf("%s: there is no %s %q in the objects%s", flag, what, name, hint)
}
