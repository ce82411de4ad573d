package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/ownership"
)

// transferFlags are those of deed transfer.
type transferFlags struct {
	handoverFlags
	from, to string
	paths    []string
}

func (c *cli) transferCommand() *cobra.Command {
	var f transferFlags
	cmd := &cobra.Command{
		Use:   "transfer --live LIVE --from MANAGER --to MANAGER",
		Short: "Give fields from one manager to another",
		Long: `Give what one manager owns to another one, which may be new, or only what is at
or below some paths.

` + managerRefUsage + ` Who is new applies, unless
NAME:Update says otherwise.

` + handoverRules,
		Example: `  # Who would own what if helm went over to flux?
  deed transfer --live live.yaml --from helm --to flux

  # Only the number of replicas, and then what flux applies next
  deed transfer --live live.yaml --from helm --to flux --path .spec.replicas -f web.yaml

  # Do it in the file
  deed transfer --live live.yaml --from helm --to flux --write`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return c.transfer(f) },
	}
	flags := cmd.Flags()
	f.registerInput(flags)
	flags.StringVar(&f.from, "from", "", "the `manager` that gives")
	flags.StringVar(&f.to, "to", "", "the `manager` that receives")
	flags.StringArrayVar(&f.paths, "path", nil, "give only this `path` and what is below it; repeatable")
	f.registerOutput(flags)
	return cmd
}

// transfer is deed transfer.
func (c *cli) transfer(f transferFlags) error {
	if f.from == "" || f.to == "" {
		return errors.New("--from and --to say who gives and who receives")
	}
	var within []fieldpath.Path
	for _, text := range f.paths {
		path, err := fieldpath.ParsePath(text)
		if err != nil {
			return fmt.Errorf("--path: %w", err)
		}
		within = append(within, path)
	}
	from, to := parseManagerRef(f.from), parseManagerRef(f.to)
	if err := checkManager(to.name); err != nil {
		return fmt.Errorf("--to: %w", err)
	}
	matched := 0
	err := c.handovers(f.handoverFlags, func(o, config *object, e *endpoint) *handover {
		h := &handover{live: o, after: o.Object, config: config, receiver: to.name}
		giver, err := only(o, from)
		if errors.Is(err, ownership.ErrNoManager) {
			h.note = fmt.Sprintf("nothing to transfer: %v owns nothing", from)
			return h
		}
		matched++
		receiver, err2 := only(o, to)
		if errors.Is(err2, ownership.ErrNoManager) {
			receiver, err2 = newManager(to), nil
		}
		if err = errors.Join(err, err2); err != nil {
			c.problem(o.at("metadata", "managedFields"), "%v: %v", o, err)
			return nil
		}
		return c.transferOne(h, e, giver, receiver, within)
	})
	if err == nil && matched == 0 && c.problems == 0 {
		c.raise(exitFinding)
	}
	return err
}

func (c *cli) transferOne(h *handover, e *endpoint, from, to merge.Manager, within []fieldpath.Path) *handover {
	entries, err := ownership.Transfer(h.live.Entries, from, to, within...)
	if err != nil {
		c.cannotHandOver(h, e, err)
		return nil
	}
	h.after.Entries = entries
	if len(h.changes()) == 0 {
		h.note = fmt.Sprintf("nothing to transfer: %s owns nothing there", managersText([]merge.Manager{from}))
		return h
	}
	if to.Operation != merge.Apply || to.Subresource != "" {
		h.config = nil
		return h
	}
	if err := h.apply(e, to.Name); err != nil {
		c.cannotHandOver(h, e, err)
		return nil
	}
	return h
}

// newManager returns a manager that r names, which no object has yet.
func newManager(r managerRef) merge.Manager {
	m := merge.Manager{Name: r.name, Operation: r.operation, Subresource: r.subresource}
	if m.Operation == "" {
		m.Operation = merge.Apply
	}
	return m
}

// only returns the only manager of o that r names. The error is [ownership.ErrNoManager] if there is none.
func only(o *object, r managerRef) (merge.Manager, error) {
	var found []merge.Manager
	for _, w := range ownersOf(o) {
		if r.matches(w.Manager) && !slices.Contains(found, w.Manager) {
			found = append(found, w.Manager)
		}
	}
	switch len(found) {
	case 0:
		return merge.Manager{}, ownership.ErrNoManager
	case 1:
		return found[0], nil
	}
	return found[0], fmt.Errorf("%v is several managers: say which of %s", r, identities(r.name, []*object{o}))
}

// apply finds out what the next apply of the configuration does, if there is one.
func (h *handover) apply(e *endpoint, manager string) error {
	if h.config == nil {
		return nil
	}
	plan, err := e.manager.Plan(h.after, h.config.Object, manager)
	if err != nil {
		return err
	}
	h.conflicts = plan.Conflicts()
	for d := range plan.Decisions() {
		others := slices.DeleteFunc(slices.Clone(d.After), func(m merge.Manager) bool {
			return m.Name == manager && m.Operation == merge.Apply
		})
		switch d.Outcome {
		case merge.Pruned, merge.Dropped:
			h.removed = append(h.removed, leftover{d.Path, d.Live, nil})
		case merge.Released:
			h.kept = append(h.kept, leftover{d.Path, d.Live, others})
		}
	}
	return nil
}
