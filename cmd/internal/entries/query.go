package entries

import (
	"slices"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/selector"
	"github.com/deed-project/deed/fieldpath"
)

// Query selects entries or paths. Without Only, Not and Both it selects the entries of Managers, or all if there are none. Otherwise it
// selects the paths that one of Only owns (without Only, any manager), all of Both own, and none of Not owns.
type Query struct {
	Managers, Only, Not, Both []selector.Manager
}

// IsSet reports whether q selects paths, not entries.
func (q Query) IsSet() bool { return len(q.Only)+len(q.Not)+len(q.Both) > 0 }

// Wants reports whether q, a query for entries, selects the entry of owner.
func (q Query) Wants(owner manifest.Holder) bool {
	return len(q.Managers) == 0 || slices.ContainsFunc(q.Managers, func(s selector.Manager) bool { return s.Matches(owner.Manager) })
}

// Set returns the paths of e that q, a query for paths, selects.
func (q Query) Set(e Entries) fieldpath.Set {
	set := e.matching(q.Only...)
	if len(q.Only) == 0 {
		for _, s := range e.Sets {
			set = set.Union(s)
		}
	}
	for _, s := range q.Both {
		set = set.Intersect(e.matching(s))
	}
	return set.Minus(e.matching(q.Not...))
}

// matching returns the union of the paths of all managers that one of selectors names.
func (e Entries) matching(selectors ...selector.Manager) fieldpath.Set {
	var union fieldpath.Set
	for i, owner := range e.Owners {
		if slices.ContainsFunc(selectors, func(s selector.Manager) bool { return s.Matches(owner.Manager) }) {
			union = union.Union(e.Sets[i])
		}
	}
	return union
}
