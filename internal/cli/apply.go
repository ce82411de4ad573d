package cli

import (
	"github.com/spf13/cobra"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
)

// applyFlags are those of deed apply.
type applyFlags struct {
	writeFlags
	force    forceFlags
	put      putFlags
	validate choice
	output   outputFlags
	color    colorFlags
}

func (c *cli) applyCommand() *cobra.Command {
	var f applyFlags
	cmd := &cobra.Command{
		Use:   "apply -f CONFIG [--live LIVE]",
		Short: "Apply configurations to live objects, as kubectl apply --server-side does",
		Long: `Apply configurations to live objects, as kubectl apply --server-side does, and
print what the API server would store, metadata.managedFields included.

Configurations and live objects are YAML or JSON: several documents, lists and
directories of them too. A configuration is applied to the live object with its
group, kind, namespace and name; where one of the two does not say its
namespace, the other's counts. What has no live object is created.

A field that others own and the configuration would change is a conflict. Its
object is then not printed, the conflict is explained on standard error, and the
exit code is 1. --force-conflicts takes all such fields from their owners,
--force-field and --force-manager some; what was taken is said there too.

With --write the outcomes go into the files that the live objects came from, and
the names of the objects to standard output. Comments and the order of keys are
kept where YAML does not change. A file is written whole or not at all, and not
if it changed in the meantime. Where --live is one file or directory, objects
that are created go there, also into a file that does not exist yet.

The type of a kind comes from --crd, from CustomResourceDefinitions among the
objects, from --openapi, from --schema, or is built in (Kubernetes v1.37): the
first that has it counts, and -v says which. Default values are not filled in,
and what admission controllers would change is not known.

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
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.apply(f, cmd.Flags().Changed("output")) },
	}
	flags := cmd.Flags()
	f.register(flags, "kubectl")
	registerForce(flags, &f.force)
	f.put.register(flags)
	f.validate = choice{"strict", []string{"strict", "warn", "ignore"}}
	flags.Var(&f.validate, "validate",
		"as in kubectl, a `mode` of strict, warn or ignore; all refuse what the schema lacks, as server-side apply does")
	flags.Lookup("validate").NoOptDefVal = "strict"
	f.output.register(flags)
	f.color.register(flags)
	registerSchemas(flags, &f.schemas)
	return cmd
}

// apply is deed apply.
func (c *cli) apply(f applyFlags, printToo bool) error {
	force, err := f.force.force()
	if err != nil {
		return err
	}
	files, err := f.put.rewriter(c, f.live)
	if err != nil {
		return err
	}
	w, err := c.open(f.writeFlags, files)
	if w == nil {
		return err
	}
	a := &applier{
		workload: w, force: force, conflicts: conflictReport{log: c.log, manager: f.manager, paint: f.color.painter(c.err)},
		out: emitter{cli: c, put: f.put, verb: "serverside-applied", files: files},
	}
	if files == nil || printToo {
		a.out.printer = f.output.printer(c.out, len(w.given) > 1)
	}
	forEach(c, "applying", a.configTasks(), func(t *task) applied { return applyOne(t, f.manager, force) }, a.use)
	a.conflicts.advise()
	a.out.close()
	return nil
}

// applier applies configurations.
type applier struct {
	*workload
	force     force
	conflicts conflictReport
	out       emitter
}

// applied is the outcome of an apply.
type applied struct {
	outcome        managedfields.Object
	taken, refused merge.Conflicts // there is no outcome if some are refused
	err            error           // likewise
}

func applyOne(t *task, manager string, force force) applied {
	plan, err := t.endpoint.manager.Plan(t.stored, t.given.Object, manager)
	if err != nil {
		return applied{err: err}
	}
	var out applied
	if out.taken, out.refused = force.split(plan.Conflicts()); len(out.refused) > 0 {
		return out
	}
	if out.outcome, out.err = plan.Force(); out.err == nil {
		out.outcome = t.endpoint.restore(t.stored, out.outcome)
	}
	return out
}

// use reports and prints what came of t.
func (a *applier) use(t *task, x applied) {
	switch {
	case x.err != nil:
		refused(a.library, t, applyRole, x.err)
	case len(x.refused) > 0:
		a.conflicts.add(t.given, x.refused)
	default:
		forced(a.library, t.given, x.taken)
		a.out.add(t, x.outcome)
	}
}
