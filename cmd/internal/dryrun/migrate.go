package dryrun

import (
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/ownership"
)

// VersionsOf returns the conversions between the versions of e's kind, or nil if only a server can convert them.
func VersionsOf(e *types.Endpoint) *ownership.Versions {
	switch {
	case e == nil:
		return nil
	case e.Renamed:
		return &ownership.Versions{Types: e.Versions}
	}
	if c := managing.Config(e.Manager).Converter; c != nil && len(e.Versions) > 1 {
		return &ownership.Versions{Types: e.Versions, Converter: c}
	}
	return nil
}

// Migrate gives the fields that the updaters in from own through subresource to the applier to. With a configuration, it also computes its
// next apply. The error is [ownership.ErrNoManager] if there is no such updater.
func (h *Handover) Migrate(e *types.Endpoint, from []string, to, subresource string) error {
	if h.Config == nil || subresource != "" {
		entries, err := ownership.Migrate(h.Live.Object, VersionsOf(e), from, to, subresource)
		if err == nil {
			h.After.Entries = entries
		}
		return err
	}
	m, err := ownership.PlanMigration(e.Manager, h.Live.Object, h.Config.Object, from, to)
	if err != nil {
		return err
	}
	h.After, h.Conflicts = m.Object, m.Conflicts
	h.Removed, h.Kept = leftovers(m.Removed), leftovers(m.Kept)
	return h.FillDefaults(e)
}
