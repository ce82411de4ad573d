package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/cmd/internal/entries"
	"github.com/deed-project/deed/cmd/internal/report"
	"github.com/deed-project/deed/cmd/internal/selector"
	"github.com/deed-project/deed/merge"
)

// fieldsFlags holds the flags of deed fields.
type fieldsFlags struct {
	stored   storedFlags
	managers []string
	only     []string
	not      []string
	both     []string
	stats    bool
	format   choice
	color    colorFlags
}

func (c *cli) fieldsCommand() *cobra.Command {
	var f fieldsFlags
	cmd := &cobra.Command{
		Use:   "fields [TYPE/NAME...] -f LIVE",
		Short: "Show managedFields in a readable form, and compare managers",
		Long: `Show the managedFields of objects in a readable form: for each manager the paths
that it owns, with their lines in the input, and how many bytes that takes.

` + selectionUsage + `

With --only, --not and --both, show one path in a line, behind its place. A path
is shown if one of the managers of --only owns it (any manager without --only),
all managers of --both own it, and no manager of --not owns it. A path stands
for itself, not for paths above or below it, in the version that the manager
wrote.

` + selector.ManagerUsage + `

No schema is needed. A path that the object does not have has - for its line.`,
		Example: `  # Which paths does each manager own, and how many bytes does that take?
  deed fields -f live.yaml
  deed fields -f live.yaml --stats

  # Which paths does kubectl own, but not autoscaler? Which do both own?
  deed fields -f live.yaml --only kubectl --not autoscaler
  deed fields -f live.yaml --both kubectl,autoscaler`,
		RunE: func(*cobra.Command, []string) error { return c.fields(f) },
	}
	f.stored.chosen.take(cmd)
	flags := cmd.Flags()
	flags.SortFlags = false
	f.stored.registerInput(flags)
	flags.Var(list{&f.managers}, "manager", "show only this `manager`; repeatable")
	flags.StringSliceVar(&f.only, "only", nil, "show paths that one of these `managers` owns")
	flags.StringSliceVar(&f.not, "not", nil, "leave out paths that one of these `managers` owns")
	flags.StringSliceVar(&f.both, "both", nil, "show paths that all of these `managers` own")
	flags.BoolVar(&f.stats, "stats", false, "show no paths, only how many there are and how many bytes they take")
	f.format = choice{report.FormatText, []string{report.FormatText, report.FormatJSON}}
	flags.VarP(&f.format, "output", "o", "output format")
	f.color.register(flags)
	cmd.MarkFlagsMutuallyExclusive("manager", "only")
	cmd.MarkFlagsMutuallyExclusive("manager", "both")
	cmd.MarkFlagsMutuallyExclusive("manager", "not")
	cmd.MarkFlagsMutuallyExclusive("stats", "only")
	cmd.MarkFlagsMutuallyExclusive("stats", "both")
	cmd.MarkFlagsMutuallyExclusive("stats", "not")
	return cmd
}

// fields runs deed fields.
func (c *cli) fields(f fieldsFlags) error {
	objects, err := c.storedOnly(f.stored)
	if err != nil {
		return err
	}
	q, err := f.query(objects)
	if err != nil {
		return err
	}
	p := report.NewFieldsPrinter(c.out, f.format.value, q, f.stats, f.color.painter(c.out))
	for o := range objects.objects {
		c.Untracked(o)
		e, err := entries.Of(o)
		c.EntryProblems(o, err)
		p.Print(e)
	}
	return c.end(p.Close())
}

func (f fieldsFlags) query(objects *survey) (q entries.Query, err error) {
	var known []merge.Manager
	if len(f.managers)+len(f.only)+len(f.not)+len(f.both) > 0 {
		known = objects.managers()
	}
	for _, flag := range []struct {
		name  string
		texts []string
		refs  *[]selector.Manager
	}{{"--manager", f.managers, &q.Managers}, {"--only", f.only, &q.Only}, {"--not", f.not, &q.Not}, {"--both", f.both, &q.Both}} {
		if *flag.refs, err = selector.Managers(flag.name, flag.texts, known); err != nil {
			return q, err
		}
	}
	if len(q.Both) == 1 {
		return q, fmt.Errorf("--both needs several managers, such as %v,NAME", q.Both[0])
	}
	return q, nil
}
