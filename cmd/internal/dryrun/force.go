package dryrun

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/deed-project/deed/cmd/internal/selector"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/merge"
)

// ForceFlags selects the fields to take from their owners.
type ForceFlags struct {
	All      bool
	Fields   []string // see [selector.Selector]
	Managers []string
	Rules    *Rules // nil if there are none
}

// Force selects the conflicts that are decided for the applier.
type Force struct {
	all      bool
	fields   []*usedField
	managers []*usedName
	rules    *Rules
}

// usedField is a selector, and usedName the name of a manager. Both record whether they have selected anything yet.
type usedField struct {
	selector.Selector
	used atomic.Bool
}

type usedName struct {
	name string
	used atomic.Bool
}

// Force parses the flags.
func (f ForceFlags) Force() (*Force, error) {
	out := &Force{all: f.All, rules: f.Rules}
	for _, text := range f.Fields {
		s, err := selector.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("--force-field: %w", err)
		}
		out.fields = append(out.fields, &usedField{Selector: s})
	}
	for _, name := range f.Managers {
		out.managers = append(out.managers, &usedName{name: name})
	}
	return out, nil
}

// split divides the conflicts of t into those that are decided for the applier, and the others. The error is a [*selector.AmbiguousError].
func (f *Force) split(t *Task, all merge.Conflicts) (taken, refused merge.Conflicts, err error) {
	var errs []error
	byRules, paths := f.rules.takes(t.Given, all), pathsOf(all)
	selected := make([]bool, len(all))
	for _, s := range f.fields {
		found, err := s.Among(paths)
		errs = append(errs, err)
		for i, path := range found {
			if path != nil {
				selected[i] = true
				s.used.Store(true)
			}
		}
	}
	for i, c := range all {
		takes := f.all || byRules[i] || selected[i]
		for _, m := range f.managers {
			if m.name == c.Owner.Manager.Name {
				takes = true
			}
		}
		if takes {
			taken = append(taken, c)
		} else {
			refused = append(refused, c)
		}
	}
	f.see(t)
	return taken, refused, errors.Join(errs...)
}

// pathsOf returns the paths of the conflicts.
func pathsOf(conflicts merge.Conflicts) []fieldpath.Path {
	out := make([]fieldpath.Path, len(conflicts))
	for i, c := range conflicts {
		out[i] = c.Path
	}
	return out
}

// see records which fields and managers t has. A field of the configuration counts as used even without a conflict, because the same
// configuration may be applied again.
func (f *Force) see(t *Task) {
	f.rules.see(t)
	for _, s := range f.fields {
		if !s.used.Load() {
			if paths, err := s.In(t.Given.Content); err != nil || len(paths) > 0 {
				s.used.Store(true)
			}
		}
	}
	for _, m := range f.managers {
		for _, e := range t.Stored.Entries {
			if m.name == e.Manager {
				m.used.Store(true)
			}
		}
	}
}

// Unused returns an error for the fields that no configuration has, the managers that no live object has, and the rules that match nothing.
// managers holds the known names.
func (f *Force) Unused(managers []string) error {
	var errs []error
	for _, s := range f.fields {
		if !s.used.Load() {
			errs = append(errs, fmt.Errorf("--force-field: %s matches no field of the configurations", s))
		}
	}
	for _, m := range f.managers {
		if m.used.Load() {
			continue
		}
		errs = append(errs, fmt.Errorf("--force-manager: there is no manager %q in the live objects%s", m.name, candidateManagers(m.name, managers)))
	}
	return errors.Join(append(errs, f.rules.unused(managers)...)...)
}
