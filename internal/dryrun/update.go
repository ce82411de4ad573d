package dryrun

import (
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/manifest"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// Updated is the outcome of an update.
type Updated struct {
	Outcome managedfields.Object
	Lost    merge.Conflicts // what others owned
	Forgot  error           // why it is not known who owned what
	Err     error
}

// UpdateOne has manager replace what is stored by what is given. A server drops fields that it does not know;
// here they are refused, as kubectl has the server refuse them.
func UpdateOne(t *Task, manager string) Updated {
	if err := t.checkFields(); err != nil {
		return Updated{Err: err}
	}
	outcome, err := t.Endpoint.Manager.Update(t.Stored, t.Given.Object, manager)
	if err != nil {
		return Updated{Err: err}
	}
	outcome = t.Endpoint.Restore(t.Stored, outcome)
	start := t.Given.Entries
	if len(start) == 0 {
		start = t.Stored.Entries
	}
	before, forgot := managedfields.Decode(start)
	after, err := managedfields.Decode(outcome.Entries)
	if err != nil {
		return Updated{Err: err}
	}
	return Updated{Outcome: outcome, Lost: losses(before, after, t.Stored.Content, outcome.Content), Forgot: forgot}
}

// checkFields refuses what is given if it does not conform to the type of its kind.
func (t *Task) checkFields() error {
	_, err := typed.New(t.Given.Content, t.Endpoint.Typ, typed.AllowDuplicates)
	if err != nil {
		return &managedfields.TypeError{Operation: merge.Update, Role: UpdateRole, Object: t.Given.String(), Err: err}
	}
	return nil
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
			out = append(out, merge.Conflict{Owner: e, Path: path, Live: manifest.Lookup(live, path), Wanted: manifest.Lookup(outcome, path)})
		}
	}
	return out
}
