package cli

import (
	"github.com/spf13/cobra"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/value"
)

// updateFlags are those of deed update.
type updateFlags struct {
	writeFlags
	subresource string
	put         putFlags
	output      outputFlags
}

func (c *cli) updateCommand() *cobra.Command {
	var f updateFlags
	cmd := &cobra.Command{
		Use:   "update -f NEW [--live LIVE]",
		Short: "Replace live objects, as kubectl replace, kubectl edit and controllers do",
		Long: `Replace live objects by new ones, as kubectl replace, kubectl edit and most
controllers do, and print what the API server would store.

An update has no conflicts: who writes owns what changes, and everybody else
loses it. Who lost what is said on standard error. What the new object leaves
out is removed, and is nobody's any more.

The new object is the whole object. Its metadata.managedFields are what the
update starts from; where it has none, those of the live object are. What the
server itself fills in, such as metadata.uid, is printed as the new object has
it. What has no live object is created.

Objects are read and found, and with --write put back, as by deed apply.`,
		Example: `  # Who loses what when this is written?
  deed update -f edited.yaml --live live.yaml

  # A controller scales through a subresource; keep the outcome
  deed update -f scaled.yaml --live live.yaml --field-manager autoscaler --subresource scale --write`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.update(f, cmd.Flags().Changed("output")) },
	}
	flags := cmd.Flags()
	f.register(flags, "kubectl-replace")
	flags.StringVar(&f.subresource, "subresource", "", "the `name` of the subresource that is written through, such as status")
	f.put.register(flags)
	f.output.register(flags)
	registerSchemas(flags, &f.schemas)
	return cmd
}

// update is deed update.
func (c *cli) update(f updateFlags, printToo bool) error {
	files, err := f.put.rewriter(c, f.live)
	if err != nil {
		return err
	}
	w, err := c.open(f.writeFlags, files)
	if w == nil {
		return err
	}
	w.config.Subresource = f.subresource
	out := emitter{cli: c, put: f.put, verb: "replaced", files: files}
	if files == nil || printToo {
		out.printer = f.output.printer(c.out, len(w.given) > 1)
	}
	work := func(t *task) updated { return updateOne(t, f.manager) }
	forEach(c, "updating", w.tasks(), work, func(t *task, x updated) {
		if x.err != nil {
			refused(c.library, t, updateRole, x.err)
			return
		}
		if x.forgot != nil {
			c.warn(t.given.at(), "%v: the managed fields cannot be read, and the update forgets them: %v", t.given, x.forgot)
		}
		forced(c.library, t.given, x.lost)
		out.add(t, x.outcome)
	})
	out.close()
	return nil
}

// updated is the outcome of an update.
type updated struct {
	outcome managedfields.Object
	lost    merge.Conflicts // what others owned
	forgot  error           // why it is not known who owned what
	err     error
}

func updateOne(t *task, manager string) updated {
	outcome, err := t.endpoint.manager.Update(t.stored, t.given.Object, manager)
	if err != nil {
		return updated{err: err}
	}
	outcome = t.endpoint.restore(t.stored, outcome)
	start := t.given.Entries
	if len(start) == 0 {
		start = t.stored.Entries
	}
	before, forgot := managedfields.Decode(start)
	after, err := managedfields.Decode(outcome.Entries)
	if err != nil {
		return updated{err: err}
	}
	return updated{outcome: outcome, lost: losses(before, after, t.stored.Content, outcome.Content), forgot: forgot}
}

// ancientChanges is the updater that gets the fields of the oldest ones when an object has too many: see
// [managedfields.Config].
const ancientChanges = "ancient-changes"

// losses returns what each manager owned before and does not own after, with its values in the live object and the outcome.
// Fields that have others below them are left out.
func losses(before, after merge.Managers, live, outcome value.Value) merge.Conflicts {
	var ancient fieldpath.Set
	for e := range after.All() {
		if e.Manager.Name == ancientChanges {
			ancient = ancient.Union(e.Fields)
		}
	}
	var out merge.Conflicts
	for e := range before.All() {
		kept, _ := after.Get(e.Manager)
		for path := range e.Fields.Minus(kept.Fields).Minus(ancient).Leaves().All() {
			out = append(out, merge.Conflict{Owner: e, Path: path, Live: lookup(live, path), Wanted: lookup(outcome, path)})
		}
	}
	return out
}
