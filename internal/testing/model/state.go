package model

import (
	"maps"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/typed"
)

// State is an object of one version, with its owners.
type State struct {
	Live   typed.Value
	Owners map[merge.Manager]Set
}

// Apply returns the state after a forced apply, and the fields that other managers lose: the conflicts.
func (s State) Apply(m merge.Manager, config typed.Value) (State, map[merge.Manager]Set, error) {
	s, err := s.reconciled()
	if err != nil {
		return s, nil, err
	}
	merged, err := typed.Merge(s.Live, config)
	if err != nil {
		return s, nil, err
	}
	own := SetOf(config.Fields())
	owned := own
	for other, set := range s.Owners {
		if other != m { // the last apply of m protects nothing
			owned = owned.Union(set)
		}
	}
	if last := s.Owners[m]; len(last) > 0 {
		merged = prune(merged, last, owned)
	}
	return s.settle(m, merged, own)
}

// reconciled returns s with all sets adapted to the type.
func (s State) reconciled() (State, error) {
	out := State{Live: s.Live, Owners: map[merge.Manager]Set{}}
	for m, set := range s.Owners {
		fields, _, err := typed.Reconcile(set.Fields(), s.Live.Type())
		if err != nil {
			return s, err
		}
		out.Owners[m] = SetOf(fields)
	}
	return out, nil
}

// prune removes from merged the fields of last. It then puts back the owned fields, and then the fields that last lacks.
func prune(merged typed.Value, last, owned Set) typed.Value {
	named := func(s fieldpath.Set) Set { return SetOf(typing.WithNamedFields(s, merged.Type())) }
	fields, last := named(merged.Fields()), named(last.Fields())
	pruned := merged.Remove(last.Fields())
	away := fields.Minus(named(pruned.Fields())).Minus(named(owned.Fields()))
	pruned = merged.Remove(away.Fields())
	away = fields.Minus(named(pruned.Fields())).Intersect(last)
	return merged.Remove(away.Fields())
}

// Update returns the state after m has replaced the object with object.
func (s State) Update(m merge.Manager, object typed.Value) (State, error) {
	s, err := s.reconciled()
	if err != nil {
		return s, err
	}
	diff, err := typed.Compare(s.Live, object)
	if err != nil {
		return s, err
	}
	own := s.Owners[m].where(func(fieldpath.Path) bool { return true })
	own = own.Minus(SetOf(diff.Removed)).Union(SetOf(diff.Modified)).Union(SetOf(diff.Added))
	after, _, err := s.settle(m, object, own)
	return after, err
}

// settle gives m its new set. It removes the changed and removed fields from all other sets.
func (s State) settle(m merge.Manager, object typed.Value, own Set) (State, map[merge.Manager]Set, error) {
	diff, err := typed.Compare(s.Live, object)
	if err != nil {
		return s, nil, err
	}
	out := State{Live: object, Owners: map[merge.Manager]Set{}}
	taken := map[merge.Manager]Set{}
	for other, set := range s.Owners {
		if other == m {
			continue
		}
		taken[other] = set.Intersect(SetOf(diff.Modified).Union(SetOf(diff.Added)))
		out.Owners[other] = set.Minus(taken[other]).Minus(SetOf(diff.Removed))
	}
	out.Owners[m] = own
	empty := func(_ merge.Manager, set Set) bool { return len(set) == 0 }
	maps.DeleteFunc(out.Owners, empty)
	maps.DeleteFunc(taken, empty)
	return out, taken, nil
}
