package cli

import (
	"github.com/spf13/cobra"

	"github.com/deed-project/deed/cmd/internal/dryrun"
	"github.com/deed-project/deed/cmd/internal/report"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/managedfields"
)

// diffFlags holds the flags of deed diff.
type diffFlags struct {
	applyInput
	format      choice
	color       colorFlags
	showManaged bool
}

func (c *cli) diffCommand() *cobra.Command {
	var f diffFlags
	cmd := &cobra.Command{
		Use:   "diff [-f] CONFIG... [--live LIVE]",
		Short: "Show the difference that an apply would make, as kubectl diff --server-side does",
		Long: `Show the difference between live objects and the outcome of an apply of
configurations to them, as kubectl diff --server-side does.

Both are written to directories called LIVE-* and MERGED-*, in files called
group.version.Kind.namespace.name. The program diff -u -N compares them, or the
program that the environment variable KUBECTL_EXTERNAL_DIFF names. If there is
no program called diff, deed compares them itself. --color does not change the
output of your own program.

-o json lists the fields that differ, with both values, for each object, and
runs no program.

The values of Secrets are masked. An object with conflicts is not compared: the
conflicts are explained on standard error.

Objects are read and found as by deed apply.`,
		Example: `  # What would change?
  deed diff -f web.yaml --live live.yaml

  # The same with another program, and with conflicting fields taken from their owners
  KUBECTL_EXTERNAL_DIFF="dyff between --omit-header --set-exit-code" deed diff -f web.yaml --live live.yaml --force-conflicts`,
		RunE: func(*cobra.Command, []string) error { return c.diff(f) },
	}
	takeFiles(cmd)
	flags := cmd.Flags()
	f.register(flags)
	f.format = choice{report.FormatText, []string{report.FormatText, report.FormatJSON}}
	flags.VarP(&f.format, "output", "o", "output format")
	f.color.register(flags)
	flags.BoolVar(&f.showManaged, "show-managed-fields", false, "compare metadata.managedFields too")
	registerSchemas(flags, &f.schemas)
	return cmd
}

// diff runs deed diff.
func (c *cli) diff(f diffFlags) error {
	how, w, err := c.openApply(f.applyInput, nil)
	if w == nil {
		return err
	}
	d, err := c.differ(f)
	if err != nil {
		c.Failed(secret.Open.Error(err))
		return nil
	}
	conflicts := c.conflictReport(f.manager, f.color)
	var unknown report.Unknowns
	dryrun.Each(w.Workload, "applying", true, how.One, func(t *dryrun.Task, x dryrun.Applied) {
		switch {
		case x.Err != nil:
			dryrun.Refused(c.Library, t, dryrun.ApplyRole, x.Err)
		case len(x.Refused) > 0:
			conflicts.Add(t, x.Refused)
		default:
			report.Forced(c.Library, t.Given, x.Taken)
			report.Left(c.Library, t.Given, x.Left)
			report.TakenOver(c.Library, t.Given, x.TakenOver)
			report.Migrated(c.Library, t.Given, x)
			report.Refused(c.Log, t, x.Findings)
			report.Warned(c.Log, t.Given, x.Warnings)
			unknown.Unchecked(c.Log, t, x.Validated)
			d.Add(t, x.Outcome)
		}
	})
	conflicts.Advise()
	if err := d.Close(); err != nil {
		c.Failed(secret.Open.Error(err))
	}
	return how.Force.Unused(w.Managers())
}

// differ shows how objects change. Add takes one object, and Close shows the objects that Add has not shown yet.
type differ interface {
	Add(t *dryrun.Task, outcome managedfields.Object)
	Close() error
}

// differ returns the differ for the output format of f.
func (c *cli) differ(f diffFlags) (differ, error) {
	if f.format.value == report.FormatJSON {
		return report.NewDiffPrinter(c.Log, c.out), nil
	}
	d := &report.Differ{
		Log: c.Log, Out: c.out, Paint: f.color.painter(c.out), ShowManaged: f.showManaged,
	}
	return d, d.Open()
}
