package cli

import (
	"github.com/spf13/cobra"

	"github.com/deed-project/deed/cmd/internal/dryrun"
	"github.com/deed-project/deed/cmd/internal/report"
)

// applyFlags holds the flags of deed apply.
type applyFlags struct {
	applyInput
	put      putFlags
	validate strictness
	output   outputFlags
	color    colorFlags
}

func (c *cli) applyCommand() *cobra.Command {
	var f applyFlags
	cmd := &cobra.Command{
		Use:   "apply [-f] CONFIG... [--live LIVE]",
		Short: "Apply configurations to live objects, as kubectl apply --server-side does",
		Long: `Apply configurations to live objects, as kubectl apply --server-side does, and
print what the API server would store, metadata.managedFields included.

Configurations and live objects are YAML or JSON: several documents, lists and
directories of them too. A configuration is applied to the live object with its
group, kind, namespace and name. If one of the two lacks its namespace, the
namespace of the other counts. An object without a live object is created.

A field is in conflict if other managers own it and the configuration would
change it. The object is then not printed, and standard error explains the
conflict. With -o json, the Status of the API server takes the place of the
object, with the owner and the values of each conflict. --force-conflicts takes
all such fields from their owners, --force-field and --force-manager take some.
Standard error lists the fields that were taken.

With --write the outcomes go into the files of the live objects, and the names
of the objects to standard output. Comments and the order of keys are kept where
YAML does not change. A file is written completely or not at all, and not if it
has changed since it was read. If --live is one file or directory, new objects
go there, also into a file that does not exist yet.

The type of a kind comes from the first of these that has it: --crd,
CustomResourceDefinitions among the objects, --openapi, --schema, and the
built-in types (Kubernetes v1.37). -v prints which one it is. Default values are
filled in, and objects have the form in which a server stores them, unless
--no-defaults is given. Values that only a server knows are left out, such as a
uid, a cluster IP and the changes of admission plugins.

The time in managedFields is the current time, or, for output that is the same
in every run, that of the environment variable SOURCE_DATE_EPOCH, in seconds.`,
		Example: `  # What will the cluster store?
  kubectl get -f web.yaml -o yaml --show-managed-fields > live.yaml
  deed apply -f web.yaml --live live.yaml

  # The same for everything in a directory, live objects from a pipe, as another manager, in JSON
  kubectl get -R -f deploy -o yaml --show-managed-fields | deed apply -R -f deploy --live - --field-manager ci -o json

  # Create a custom resource, without managedFields in the output
  deed apply -f widget.yaml --crd widget-crd.yaml --show-managed-fields=false

  # Take one field from its owner, and keep the outcome
  deed apply -f web.yaml --live live.yaml --field-manager ci --force-field .spec.replicas --write`,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.apply(f, cmd.Flags().Changed("output")) },
	}
	takeFiles(cmd)
	flags := cmd.Flags()
	f.register(flags)
	f.put.register(flags)
	f.validate.register(flags,
		"as in kubectl, a `mode` of strict, warn or ignore; all refuse what the schema lacks, as server-side apply does")
	f.output.register(flags)
	f.color.register(flags)
	registerSchemas(flags, &f.schemas)
	return cmd
}

// apply runs deed apply.
func (c *cli) apply(f applyFlags, printToo bool) error {
	files, err := f.put.rewriter(c, f.live)
	if err != nil {
		return err
	}
	how, w, err := c.openApply(f.applyInput, files)
	if w == nil {
		return err
	}
	a := &applier{
		Workload: w.Workload, conflicts: c.conflictReport(f.manager, f.color),
		out: emitter{cli: c, put: f.put, verb: "serverside-applied", files: files},
	}
	if files == nil || printToo {
		a.out.printer = f.output.printer(c.out, w.several)
	}
	dryrun.Each(w.Workload, "applying", true, how.One, a.use)
	a.conflicts.Advise()
	if err := how.Force.Unused(w.Managers()); err != nil {
		a.out.files = nil
		a.out.close()
		return err
	}
	a.out.close()
	return nil
}

// applier applies configurations.
type applier struct {
	*dryrun.Workload
	conflicts report.ConflictReport
	unknown   report.Unknowns
	out       emitter
}

// use reports and prints the result x of t.
func (a *applier) use(t *dryrun.Task, x dryrun.Applied) {
	switch {
	case x.Err != nil:
		dryrun.Refused(a.Library, t, dryrun.ApplyRole, x.Err)
		a.out.refuse(t, x.Err)
	case len(x.Refused) > 0:
		a.conflicts.Add(t, x.Refused)
		a.out.refuse(t, x.Refused)
	default:
		report.Forced(a.Library, t.Given, x.Taken)
		report.Left(a.Library, t.Given, x.Left)
		report.TakenOver(a.Library, t.Given, x.TakenOver)
		report.Migrated(a.Library, t.Given, x)
		report.Refused(a.Log, t, x.Findings)
		a.unknown.Add(a.Log, t, x.Outcome, x.Validated)
		a.out.add(t, x.Outcome)
	}
}
