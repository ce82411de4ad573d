package entries

import (
	"slices"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/selector"
	"github.com/deed-project/deed/fieldpath"
)

// Query says what of entries is wanted: those of Managers, all if there are none; or, if any of
// Only, Not and Both says something, the paths that one of Only owns, or, without Only, anybody,
// and all of Both, and none of Not.
type Query struct {
	Managers, Only, Not, Both []selector.Manager
}

// IsSet reports whether q is for paths, and not for managers.
func (q Query) IsSet() bool { return len(q.Only)+len(q.Not)+len(q.Both) > 0 }

// Wants reports whether q, a query for managers, is for the entry of owner.
func (q Query) Wants(owner manifest.Holder) bool {
	return len(q.Managers) == 0 || slices.ContainsFunc(q.Managers, func(s selector.Manager) bool { return s.Matches(owner.Manager) })
}

// Set returns the paths of e that q, a query for paths, is for.
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

// matching returns the union of what the managers own that any of selectors names.
func (e Entries) matching(selectors ...selector.Manager) fieldpath.Set {
	var union fieldpath.Set
	for i, owner := range e.Owners {
		if slices.ContainsFunc(selectors, func(s selector.Manager) bool { return s.Matches(owner.Manager) }) {
			union = union.Union(e.Sets[i])
		}
	}
	return union
}
