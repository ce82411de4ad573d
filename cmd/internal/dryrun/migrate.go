package dryrun

import (
	"slices"

	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/ownership"
)

// VersionsOf returns the conversions between the versions of e's kind, or nil if only a server can convert them.
func VersionsOf(e *types.Endpoint) *ownership.Versions {
	if e == nil || !e.Converts() {
		return nil
	}
	versions := e.Conversions()
	return &versions
}

// Migrate gives the fields that the updaters in from own through subresource to the applier to. With a configuration, it also computes its
// next apply. A migration of kubectl's record to kubectl keeps the record as kubectl does: see [ownership.ApplyAsKubectl]. The error is
// [ownership.ErrNoManager] if there is no such updater.
func (h *Handover) Migrate(e *types.Endpoint, from []string, to, subresource string) error {
	live := h.Live.Object
	isGiver := func(name string) bool { return slices.Contains(from, name) }
	if to == kubectlName && subresource == "" && slices.ContainsFunc(ownership.ClientSideAppliers(live.Entries), isGiver) {
		live.Entries = owning.SaveRecord(live)
	}
	if h.Config == nil || subresource != "" {
		entries, err := ownership.Migrate(live, VersionsOf(e), from, to, subresource)
		if err == nil {
			h.After.Entries = entries
		}
		return err
	}
	m, err := ownership.PlanMigration(e.Manager, live, h.Config.Object, from, to)
	if err != nil {
		return err
	}
	h.After, h.Conflicts = m.Object, m.Conflicts
	h.Removed, h.Kept = leftovers(m.Removed), leftovers(m.Kept)
	return h.FillDefaults(e)
}
