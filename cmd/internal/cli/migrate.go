package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/cmd/internal/dryrun"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/cmd/internal/wording"
	"github.com/deed-project/deed/kube/inventory"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/ownership"
)

// migrateFlags holds the flags of deed migrate.
type migrateFlags struct {
	handoverFlags
	manager     string
	from        []string
	subresource string
	record      bool
	inventory   string
}

func (c *cli) migrateCommand() *cobra.Command {
	var f migrateFlags
	cmd := &cobra.Command{
		Use:   "migrate [TYPE/NAME...] --live LIVE [-f CONFIG]",
		Short: "Go over from client-side to server-side apply",
		Long: `Give the fields that kubectl apply without --server-side owns to a manager that
applies on the server side, as kubectl does for such an object. Without a
migration, fields stay behind that no manager can remove by leaving them out.
If kubectl will apply, "kubectl-last-applied" becomes an owner of kubectl's
record of its client-side apply. Otherwise the next apply would remove it.

` + handoverRules + `

An object of client-side apply that has lost its managedFields is not migrated:
its first apply would give all its fields to the applier. For such objects,
--from-last-applied gives the manager only the fields that kubectl's record says
were applied.`,
		Example: `  # Which fields would each manager own?
  kubectl get deployment cart -o yaml --show-managed-fields | deed migrate

  # Which fields will the next apply of the manifest remove then?
  deed migrate --live live.yaml -f cart.yaml

  # Do it in the cluster: all objects, or one by a patch of its own
  deed migrate --live live.yaml -o kubectl | sh
  deed migrate deployment/cart --live live.yaml -o patch > patch.json
  kubectl patch deployment cart --type=json --patch-file patch.json`,
		RunE: func(*cobra.Command, []string) error { return c.migrate(f) },
	}
	f.chosen.take(cmd)
	flags := cmd.Flags()
	f.registerInput(flags)
	flags.StringVar(&f.manager, "field-manager", "kubectl", "the `name` of the manager that will apply")
	flags.Var(list{&f.from}, "from",
		"the `name` of a manager whose updates are migrated; repeatable. Without it, those that own kubectl's record")
	flags.StringVar(&f.subresource, "subresource", "", "the `name` of the subresource that the updates went through")
	flags.BoolVar(&f.record, "from-last-applied", false,
		"for objects that have lost their managedFields, take the applied fields from kubectl's record")
	flags.StringVar(&f.inventory, "inventory", "",
		"migrate what the object `TYPE/NAME` of the cluster lists: release/NAME of Helm, a Kustomization or HelmRelease of Flux, or an Application of Argo CD")
	f.registerOutput(flags)
	return cmd
}

// migrate runs deed migrate.
func (c *cli) migrate(f migrateFlags) error {
	if err := dryrun.CheckManager(f.manager); err != nil {
		return err
	}
	var tool inventory.Inventory
	if f.inventory != "" {
		var err error
		if tool, err = c.takeInventory(&f); err != nil {
			return err
		}
	}
	matched, there := false, []string{}
	err := c.handovers(f.handoverFlags, func(o, config *manifest.Object, e *types.Endpoint) *dryrun.Handover {
		for _, w := range manifest.OwnersOf(o) {
			if there = append(there, w.Manager.Name); w.Manager.Operation == merge.Update {
				matched = matched || slices.Contains(f.from, w.Manager.Name)
			}
		}
		h := &dryrun.Handover{Live: o, After: o.Object, Config: config}
		if ownership.HasLostOwners(o.Object) {
			return c.restore(f, h, e)
		}
		from := f.from
		if len(from) == 0 {
			from = slices.Concat(tool.From, ownership.ClientSideAppliers(o.Entries))
		}
		if err := h.Migrate(e, from, f.manager, f.subresource); err != nil && !errors.Is(err, ownership.ErrNoManager) {
			c.cannotHandOver(h, e, err)
			return nil
		}
		if len(h.Changes()) == 0 {
			h.Note = "nothing to migrate: no manager owns kubectl's record of its client-side apply"
			if from := cmp.Or(strings.Join(f.from, " or "), strings.Join(tool.From, " or ")); from != "" {
				h.Note = "nothing to migrate: there are no updates by " + from
			}
		}
		return h
	})
	if err != nil || matched || len(f.from) == 0 || c.Problems > 0 {
		return err
	}
	slices.Sort(there)
	return fmt.Errorf("--from: no update in the objects is by %s; their managers are %s",
		wording.QuotedList(f.from), wording.QuotedList(slices.Compact(there)))
}

// takeInventory makes f migrate the objects of the inventory that it names, to the applier that its tool is unless --field-manager names
// one. It returns the inventory.
func (c *cli) takeInventory(f *migrateFlags) (inventory.Inventory, error) {
	if len(f.chosen.Arguments) > 0 || len(f.live) > 0 && !slices.Equal(f.live, []string{clusterName}) {
		return inventory.Inventory{}, errors.New("--inventory names the objects, all in the cluster: name no others, and no files with --live")
	}
	k, err := f.cluster.open(c, f.configs, f.chosen.Namespace)
	if err != nil {
		return inventory.Inventory{}, err
	}
	found, objects, err := k.inventory(f.inventory)
	if err != nil {
		return inventory.Inventory{}, err
	}
	if !c.running.Flags().Changed("field-manager") {
		f.manager = found.To
	}
	f.listed = &inventoried{k, objects}
	return found, nil
}

// cannotHandOver reports why a handover failed.
func (c *cli) cannotHandOver(h *dryrun.Handover, e *types.Endpoint, err error) {
	given := h.Config
	if given == nil {
		given = h.Live
	}
	dryrun.Refused(c.Library, &dryrun.Task{Given: given, Live: h.Live, Endpoint: e}, dryrun.ApplyRole, err)
}

// restore makes up entries for an object that has lost its managedFields, if the flags ask for that.
func (c *cli) restore(f migrateFlags, h *dryrun.Handover, e *types.Endpoint) *dryrun.Handover {
	if !f.record {
		c.Raise(notice.ExitFinding)
		h.Note = "not migrated: client-side apply wrote it, but its managedFields are lost. " +
			"--from-last-applied makes " + wording.Manager(f.manager) + " the owner of what kubectl's record says was applied"
		return h
	}
	entries, err := ownership.EntriesOfLastApplied(h.Live.Object, e.Typ, f.manager)
	if err != nil {
		c.Problem(h.Live.Key(manifest.Steps(h.Live.Content, dryrun.Record)...), "%v: %s", h.Live, h.Live.View().Error(err))
		return nil
	}
	h.After.Entries = entries
	if err := h.Apply(e, f.manager); err != nil {
		c.cannotHandOver(h, e, fmt.Errorf("after the migration: %w", err))
		return nil
	}
	return h
}
