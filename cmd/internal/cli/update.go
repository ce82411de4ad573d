package cli

import (
	"github.com/spf13/cobra"

	"github.com/deed-project/deed/cmd/internal/dryrun"
	"github.com/deed-project/deed/cmd/internal/report"
	"github.com/deed-project/deed/cmd/internal/types"
)

// updateFlags holds the flags of deed update.
type updateFlags struct {
	writeFlags
	put      putFlags
	validate strictness
	output   outputFlags
}

func (c *cli) updateCommand() *cobra.Command {
	var f updateFlags
	cmd := &cobra.Command{
		Use:   "update [-f] NEW... [--live LIVE]",
		Short: "Replace live objects, as kubectl replace, kubectl edit and controllers do",
		Long: `Replace live objects by new ones, as kubectl replace, kubectl edit and most
controllers do, and print what the API server would store.

An update has no conflicts: the manager that updates becomes the only owner of
each field that changes. Standard error lists the managers that lost fields. A
field that the new object leaves out is removed, and loses all owners.

The new object is the whole object. The update starts from its
metadata.managedFields, or from those of the live object if it has none. Fields
that the server itself fills in, such as metadata.uid, are printed as the new
object has them. An object without a live object is created.

Objects are read and found, and with --write put back, as by deed apply.`,
		Example: `  # Which managers lose which fields?
  deed update -f edited.yaml --live live.yaml

  # A controller scales through a subresource; keep the outcome
  deed update -f scaled.yaml --live live.yaml --field-manager autoscaler --subresource scale --write`,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.update(f, cmd.Flags().Changed("output")) },
	}
	takeFiles(cmd)
	flags := cmd.Flags()
	f.register(flags, "kubectl-replace")
	f.put.register(flags)
	f.validate.register(flags,
		"as in kubectl, a `mode` of strict, warn or ignore: all but strict drop what the Go type of a built-in kind lacks")
	f.output.register(flags)
	registerSchemas(flags, &f.schemas)
	return cmd
}

// update runs deed update.
func (c *cli) update(f updateFlags, printToo bool) error {
	files, err := f.put.rewriter(c, f.live)
	if err != nil {
		return err
	}
	w, err := c.open(f.writeFlags, files)
	if w == nil {
		return err
	}
	out := emitter{cli: c, put: f.put, verb: "replaced", files: files}
	if files == nil || printToo {
		out.printer = f.output.printer(c.out, w.several)
	}
	var unknown report.Unknowns
	how := dryrun.Update{Manager: f.manager, Lenient: f.validate.value != report.StrictMode}
	dryrun.Each(w.Workload, "updating", false, how.One, func(t *dryrun.Task, x dryrun.Updated) {
		if x.Err != nil {
			dryrun.Refused(c.Library, t, dryrun.UpdateRole, x.Err)
			out.refuse(t, x.Err)
			return
		}
		if x.Forgot != nil {
			c.Warn(t.Given.At(), "%v: the managed fields cannot be read, and the update forgets them: %s", t.Given, t.Given.View().Error(x.Forgot))
		}
		if x.Kept != nil {
			c.Warn(t.Given.At(), "%v: the managed fields of the live object stay as they are, because they cannot be brought up to date: %s",
				t.Given, t.Given.View().Error(x.Kept))
		}
		if f.validate.value == report.WarnMode {
			for _, d := range x.Dropped {
				c.Warn(t.Given.DefectAt(d), "%v: %s", t.Given, types.Explain(t.Given, d, t.Endpoint.Typ))
			}
		}
		if x.Repeated != "" {
			c.Warn(t.Given.Key("metadata", "ownerReferences"), "%v: %s", t.Given, x.Repeated)
		}
		report.Forced(c.Library, t.Given, x.Lost)
		report.Refused(c.Log, t, x.Findings)
		unknown.Add(c.Log, t, x.Outcome, x.Validated)
		out.add(t, x.Outcome)
	})
	out.close()
	return nil
}
