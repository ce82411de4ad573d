package dryrun

import (
	"errors"
	"slices"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// Updated is the outcome of an update.
type Updated struct {
	Outcome managedfields.Object
	Lost    merge.Conflicts // the fields that other managers lost
	Forgot  error           // why the owners are unknown
	Kept    error           // why the managed fields of the live object are kept
	// Findings holds the reasons why a server's validation, which is not part of merging, refuses the outcome.
	Findings []types.Finding
	Err      error
}

// Update holds the options of an update.
type Update struct {
	Manager string
	// Lenient drops unknown fields as a server can, as far as the kind says which are dropped. kubectl makes the server refuse them.
	Lenient bool
}

// One replaces the stored object by the given object of t. A given object without a namespace gets that of the stored object, as from a server.
func (u Update) One(t *Task) Updated {
	if t.Live != nil && t.Given.Id.Namespace == "" {
		t.Given = t.Given.WithNamespace(t.Live.Id.Namespace)
	}
	if err := errors.Join(t.checkFields(u.Lenient), t.checkIdentity(merge.Update)); err != nil {
		return Updated{Err: err}
	}
	outcome, err := t.Endpoint.Manager.Update(t.Stored, t.Given.Object, u.Manager)
	if err != nil && (outcome.Content.IsAbsent() || !t.Endpoint.Typed()) {
		return Updated{Err: err}
	}
	outcome, failed := t.whole(outcome)
	if failed != nil {
		return Updated{Err: failed}
	}
	start := t.Given.Entries
	if len(start) == 0 || t.scale != nil {
		start = t.Before().Entries
	}
	before, forgot := managedfields.Decode(start)
	after, failed := managedfields.Decode(outcome.Entries)
	if failed != nil {
		return Updated{Err: failed}
	}
	out := Updated{Outcome: outcome, Lost: losses(before, after, t.Before().Content, outcome.Content), Forgot: forgot, Kept: err}
	if t.scale == nil {
		out.Findings = t.Endpoint.Findings(t.Stored.Content, outcome)
	}
	return out
}

// checkFields returns an error if the given object does not conform to the type of its kind. For kinds with Go types, only unknown members
// are errors, unless they are dropped: reading the object already refuses wrong values.
func (t *Task) checkFields(lenient bool) error {
	_, err := typed.New(t.Given.Content, t.Endpoint.Typ, typed.AllowDuplicates)
	var defects typed.Errors
	if errors.As(err, &defects) && t.Endpoint.Typed() {
		defects = slices.DeleteFunc(defects, func(e *typed.Error) bool { return lenient || e.Reason != typed.Undeclared })
		if err = defects; len(defects) == 0 {
			return nil
		}
	}
	if err == nil {
		return nil
	}
	return &managedfields.TypeError{Operation: merge.Update, Role: UpdateRole, Object: t.Given.String(), Err: err}
}

// losses returns the fields that each manager has lost, with the values in the live object and in the outcome. It leaves out fields with
// lost fields below them.
func losses(before, after merge.Managers, live, outcome value.Value) merge.Conflicts {
	var ancient fieldpath.Set
	for e := range after.All() {
		if e.Manager.Name == managedfields.AncientChanges {
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
