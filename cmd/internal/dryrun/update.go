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
	// Dropped are the unknown fields of the given object that a server drops.
	Dropped typed.Errors
	// Repeated is the warning that the given object repeats owner references, empty if it does not. The outcome has each once.
	Repeated string
	// Validated is what a server's validation, which is not part of merging, finds in the outcome.
	types.Validated
	Err error
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
	dropped, err := t.checkFields(u.Lenient)
	if err := errors.Join(err, t.checkIdentity(merge.Update)); err != nil {
		return Updated{Err: err}
	}
	given, repeated := t.sent()
	outcome, err := t.Endpoint.Manager.Update(t.Stored, given, u.Manager)
	if err != nil && (outcome.Content.IsAbsent() || t.repeatsItems()) {
		return Updated{Err: err}
	}
	outcome, failed := t.whole(outcome)
	if failed != nil {
		return Updated{Err: failed}
	}
	before, forgot := managedfields.Decode(given.Entries)
	if forgot != nil || merging.Len(before) == 0 || t.scale != nil { // unread, a reset or none
		before, forgot = managedfields.Decode(t.Before().Entries)
	}
	after, failed := managedfields.Decode(outcome.Entries)
	if failed != nil {
		return Updated{Err: failed}
	}
	out := Updated{
		Outcome: outcome, Lost: losses(before, after, t.Before().Content, outcome.Content), Forgot: forgot, Kept: err,
		Dropped: dropped, Repeated: repeated,
	}
	if t.scale == nil {
		if !t.Endpoint.Custom() { // errors quote empty lists and maps
			outcome = managing.WithSent(outcome, given.Content)
		}
		out.Validated = t.Endpoint.Validate(t.Stored, outcome)
	}
	return out
}

// sent returns the given object as a server hands it to its field manager, without repeated owner references, and its warning about these.
// An empty list of managed fields resets those of built-in kinds. A server drops it from the metadata of a custom resource.
func (t *Task) sent() (given managedfields.Object, repeated string) {
	given = t.Given.Object
	content, uids := managing.UniqueOwners(given.Content)
	if given.Content = content; len(uids) > 0 {
		repeated = managing.RepeatedOwners(uids)
	}
	if t.Endpoint.Custom() && len(given.Entries) == 0 {
		given.Entries = nil
	}
	return given, repeated
}

// repeatsItems reports whether the validation of a custom resource refuses the given object, because a set or a keyed list repeats an item.
func (t *Task) repeatsItems() bool {
	if t.Endpoint.Typed() {
		return false
	}
	_, err := typed.New(t.written(), t.Endpoint.Typ)
	return err != nil
}

// written returns the given object without the parts that its endpoint does not write, and that a server therefore does not look at. A part of
// an object of a Go type is always read.
func (t *Task) written() value.Value {
	content := t.Given.Content
	switch t.Endpoint.Restores {
	case types.RestoreStatus:
		return content.With(types.StatusName, value.Value{})
	case types.RestoreRest:
		var members []value.Member
		for _, name := range [...]string{"apiVersion", "kind", "metadata", types.StatusName} {
			if v := content.Get(name); !v.IsAbsent() {
				members = append(members, value.Member{Name: name, Value: v})
			}
		}
		return value.Object(members...)
	}
	return content
}

// checkFields returns an error if the given object does not conform to the type of its kind. If lenient, it returns the unknown members that a
// server drops apart, as no errors. For kinds with Go types, only they are errors: reading the object already refuses wrong values.
func (t *Task) checkFields(lenient bool) (dropped typed.Errors, err error) {
	_, err = typed.New(t.written(), t.Endpoint.Typ, typed.AllowDuplicates)
	var defects typed.Errors
	if drops := t.Endpoint.Typed() || t.Endpoint.Prunes(); errors.As(err, &defects) && drops {
		defects = slices.DeleteFunc(defects, func(e *typed.Error) bool {
			if e.Reason == typed.Undeclared {
				if lenient {
					dropped = append(dropped, e)
				}
				return lenient
			}
			return t.Endpoint.Typed()
		})
		if err = defects; len(defects) == 0 {
			err = nil
		}
	}
	if err == nil {
		return dropped, nil
	}
	return nil, &managedfields.TypeError{Operation: merge.Update, Role: UpdateRole, Object: t.Given.String(), Err: err}
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
	was, is := manifest.NewFinder(live), manifest.NewFinder(outcome)
	var out merge.Conflicts
	for e := range before.All() {
		kept, _ := after.Get(e.Manager)
		for path := range e.Fields.Minus(kept.Fields).Minus(ancient).Leaves().All() {
			out = append(out, merge.Conflict{Owner: e, Path: path, Live: was.Lookup(path), Wanted: is.Lookup(path)})
		}
	}
	return out
}
