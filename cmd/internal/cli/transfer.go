package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/cmd/internal/dryrun"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/report"
	"github.com/deed-project/deed/cmd/internal/selector"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/ownership"
)

// transferFlags holds the flags of deed transfer.
type transferFlags struct {
	handoverFlags
	from, to string
	paths    []string
}

func (c *cli) transferCommand() *cobra.Command {
	var f transferFlags
	cmd := &cobra.Command{
		Use:   "transfer [TYPE/NAME...] --live LIVE --from MANAGER --to MANAGER",
		Short: "Give fields from one manager to another",
		Long: `Give the fields of one manager to another one, which may be new: all fields, or
only the fields at or below some paths.

` + selector.ManagerUsage + ` A new
manager is an applier, unless it is named NAME:Update.

` + handoverRules,
		Example: `  # Which fields would each manager own if flux took over from helm?
  deed transfer --live live.yaml --from helm --to flux

  # Only the number of replicas, and then what flux applies next
  deed transfer --live live.yaml --from helm --to flux --path .spec.replicas -f web.yaml

  # Do it in the file
  deed transfer --live live.yaml --from helm --to flux --write`,
		RunE: func(*cobra.Command, []string) error { return c.transfer(f) },
	}
	f.chosen.take(cmd)
	flags := cmd.Flags()
	f.registerInput(flags)
	flags.StringVar(&f.from, "from", "", "the `manager` that gives")
	flags.StringVar(&f.to, "to", "", "the `manager` that receives")
	flags.Var(list{&f.paths}, "path", "give only this `path` and what is below it; repeatable")
	f.registerOutput(flags)
	return cmd
}

// transfer runs deed transfer.
func (c *cli) transfer(f transferFlags) error {
	if f.from == "" || f.to == "" {
		return errors.New("--from and --to are needed: the manager that gives fields and the one that receives them")
	}
	var within []selector.Selector
	for _, text := range f.paths {
		path, err := selector.Parse(text)
		if err != nil {
			return fmt.Errorf("--path: %w", err)
		}
		within = append(within, path)
	}
	from, to := selector.ParseManager(f.from), selector.ParseManager(f.to)
	if err := dryrun.CheckManager(to.Name); err != nil {
		return fmt.Errorf("--to: %w", err)
	}
	given := 0 // how many objects have something to transfer
	err := c.handovers(f.handoverFlags, func(o, config *manifest.Object, e *types.Endpoint) *dryrun.Handover {
		h := &dryrun.Handover{Live: o, After: o.Object, Config: config}
		givers, err := named(o, from)
		if errors.Is(err, ownership.ErrNoManager) {
			h.Note = fmt.Sprintf("nothing to transfer: %v owns nothing", from)
			if others := selector.Identities(from.Name, managersOf(o)); others != "" {
				h.Note += ", only " + others
			}
			return h
		}
		receivers, err2 := named(o, to)
		if errors.Is(err2, ownership.ErrNoManager) {
			receivers, err2 = []merge.Manager{newManager(to)}, nil
		}
		if err = errors.Join(err, err2); err != nil {
			c.Problem(o.At("metadata", "managedFields"), "%v: %s", o, o.View().Error(err))
			return nil
		}
		if slices.Equal(givers, receivers) {
			h.Note = fmt.Sprintf("nothing to transfer: --from and --to are both %s", report.ManagersText(givers))
			return h
		}
		if h = c.transferOne(h, e, givers, receivers[0], within); h != nil && h.Note == "" {
			given++
		}
		return h
	})
	if err == nil && given == 0 && c.Problems == 0 {
		if f.format.value != report.FormatText && f.format.value != formatKubectl { // the others say it for each object
			fmt.Fprintf(c.Log, "nothing to transfer: no object changes\n")
		}
		c.Raise(notice.ExitFinding)
	}
	return err
}

// transferOne completes h with the transfer from each of the givers to one manager.
func (c *cli) transferOne(h *dryrun.Handover, e *types.Endpoint, givers []merge.Manager, to merge.Manager, within []selector.Selector) *dryrun.Handover {
	for _, from := range givers {
		paths, err := selected(h.Live, from, within)
		if err == nil && (len(within) == 0 || len(paths) > 0) {
			h.After.Entries, err = ownership.Transfer(h.After, dryrun.VersionsOf(e), from, to, paths...)
		}
		if err != nil {
			c.cannotHandOver(h, e, err)
			return nil
		}
	}
	if len(h.Changes()) == 0 {
		h.Note = fmt.Sprintf("nothing to transfer: %s owns nothing there", report.ManagersText(givers))
		return h
	}
	if to.Operation != merge.Apply || to.Subresource != "" {
		h.Config = nil
		return h
	}
	if err := h.Apply(e, to.Name); err != nil {
		c.cannotHandOver(h, e, err)
		return nil
	}
	return h
}

// selected returns the fields that from owns in o and the selectors select. Entries that cannot be read have no fields.
func selected(o *manifest.Object, from merge.Manager, selectors []selector.Selector) ([]fieldpath.Path, error) {
	var owned, out []fieldpath.Path
	for _, e := range o.Entries {
		if set, err := e.FieldsV1.Set(); err == nil && manifest.Identity(e) == from {
			owned = slices.AppendSeq(owned, set.All())
		}
	}
	for _, s := range selectors {
		found, err := s.Among(owned)
		if err != nil {
			return nil, fmt.Errorf("--path: %w", err)
		}
		out = append(out, slices.DeleteFunc(found, func(p fieldpath.Path) bool { return p == nil })...)
	}
	return out, nil
}
