package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/deed-project/deed/cmd/internal/dryrun"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/plan"
	"github.com/deed-project/deed/cmd/internal/report"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
)

// planFlags holds the flags of deed plan.
type planFlags struct {
	applyInput
	all      bool
	only     []string
	format   choice
	color    colorFlags
	exitCode bool
}

func (c *cli) planCommand() *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:   "plan [-f] CONFIG... [--live LIVE]",
		Short: "Predict what an apply would do to each field, and why",
		Long: `Predict what an apply of configurations would do to each field, without printing
the objects: the value before and after, the rule that applies, and the owners
before and after.

  set          the value becomes the configuration's
  claimed      the value stays, and the manager becomes its only owner
  shared       the value stays, and the manager becomes an owner beside others
  kept         the value stays, and was the manager's before (--all lists these)
  conflicting  the value would change, but other managers own it
  taken        the same, but a flag such as --force-conflicts takes the field
  released     the value stays, and the manager does not own it any more
  pruned       the field is removed, because the manager no longer applies it
  dropped      the field is removed with an item or object around it
  adjusted     the value changes because of a change below it

The letter and number behind each are those of the rule, see docs/rules.md. The
first line counts the outcomes of all objects. --only lists some outcomes: any
of the above, refused for what a server refuses, note, or a group. changed is
set, taken, adjusted, pruned and dropped; owners is claimed, shared and
released; server is defaulted, normalised and reset, the changes that a server
makes beside merging.

Notes point out changes that are easily overlooked: lists and objects that are
replaced as a whole, with their losses, values that return to a default, nulls
that would be left, and values that the server writes in another way. An apply
that changes nothing is named as such.

Defaults are those of the schema and, for built-in kinds, of kube-apiserver. The
plan also names the reasons for which a server's validation refuses the outcome,
such as empty texts that are required, values beyond a limit, and changes of
immutable fields. Merging itself does not refuse these. CEL rules are evaluated by
the program deed-validate, if it is beside deed or in PATH.

With -o sarif, conflicts and what a server refuses are printed for code
scanning, and with -o junit as a report of tests, with a test for each object.

With two releases, as in --kubernetes 1.33..1.37, print what an upgrade of the
cluster changes: each object is applied in both, and differences are listed.

  unserved     the later release does not serve the kind in this version
  conflicting  the apply is in conflict in the later release alone
  refused      the later release alone refuses the object
  accepted     the earlier release alone refuses the object
  agreed       the apply is in conflict in the earlier release alone
  served       the earlier release does not serve the kind in this version
  stored       another value is stored
  owned        a manager owns a field in one of the releases alone

Fields of the kinds' schemas that are merged in another way are listed, too, and
with --all those that come and go.

Objects are read and found as by deed apply. An object that cannot be planned is
counted, and the reason is on standard error.`,
		Example: `  # What would happen, and which managers would be in conflict?
  deed plan -f web.yaml --live live.yaml

  # Only fields that are in conflict or get another value
  deed plan -R deploy --live live.yaml --only conflicting,changed

  # What does an upgrade of the cluster change?
  deed plan -R deploy --live live.yaml --kubernetes 1.33..1.37

  # Which fields would be taken, for a program to read
  deed plan -f web.yaml --live live.yaml --force-conflicts -o json`,
		RunE: func(*cobra.Command, []string) error { return c.plan(f) },
	}
	takeFiles(cmd)
	flags := cmd.Flags()
	f.register(flags)
	f.registerOutput(flags)
	f.schemas.Spans = true
	registerSchemas(flags, &f.schemas)
	return cmd
}

// registerOutput adds the flags that say what is printed.
func (f *planFlags) registerOutput(flags *pflag.FlagSet) {
	flags.BoolVar(&f.all, "all", false, "list fields that are kept too")
	flags.StringSliceVar(&f.only, "only", nil, "list only these `outcomes`, such as conflicting,changed; objects without any are left out, but counted")
	f.format = choice{report.FormatText, resultFormats}
	flags.VarP(&f.format, "output", "o", "output format")
	flags.BoolVar(&f.exitCode, "exit-code", false, "exit with 1 if anything changes, as git diff does")
	f.color.register(flags)
}

// plan runs deed plan.
func (c *cli) plan(f planFlags) error {
	if _, _, _, isUpgrade := f.schemas.Releases(); isUpgrade {
		return c.planUpgrade(f)
	}
	only, err := report.NewPlanFilter(f.only)
	switch {
	case err != nil:
		return fmt.Errorf("--only: %w", err)
	case only != nil && f.format.value != report.FormatText && f.format.value != report.FormatJSON:
		return fmt.Errorf("--only is for -o text and json: -o %s has conflicts and refusals alone", f.format.value)
	}
	how, w, err := c.openApply(f.applyInput, nil)
	if w == nil {
		return err
	}
	p := report.NewPlanPrinter(c.out, f.format.value, f.all, only, f.color.painter(c.out))
	type planned struct {
		*report.ObjectPlan
		outcome    managedfields.Object
		left       merge.Conflicts
		unmigrated []string
		validated  types.Validated
		unmade     error
		err        error
	}
	kept := f.all || only != nil || f.format.value == report.FormatJSON
	var unknown report.Unknowns
	work := func(t *dryrun.Task) (out planned) {
		x := how.One(t)
		out.outcome, out.unmigrated, out.validated = x.Outcome, x.Unmigrated, x.Validated
		if out.left, out.unmade, out.err = x.Left, x.Unmade, x.Err; out.err != nil {
			return out
		}
		made, err := plan.Of(t, x, kept)
		if out.err = err; err == nil {
			out.ObjectPlan = report.NewObjectPlan(made, f.manager)
		}
		return out
	}
	dryrun.Each(w.Workload, "planning", true, work, func(t *dryrun.Task, x planned) {
		if x.err != nil {
			dryrun.Refused(c.Library, t, dryrun.ApplyRole, x.err)
			return
		}
		report.Left(c.Library, t.Given, x.left)
		report.Unmigrated(c.Library, t.Given, x.unmigrated)
		if x.Conflicts > 0 || len(x.Findings) > 0 || f.exitCode && !x.NoOp {
			c.Raise(notice.ExitFinding)
		}
		unknown.Add(c.Log, t, x.outcome, x.validated)
		p.Print(x.ObjectPlan)
		if x.unmade != nil {
			dryrun.Refused(c.Library, t, dryrun.ApplyRole, x.unmade)
		}
	})
	return errors.Join(c.end(p.Close(w.Given, c.Notices)), how.Force.Unused(w.Managers()))
}
