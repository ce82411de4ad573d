package ownership

import (
	"fmt"
	"slices"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/value"
)

// kubectl apply --server-side sends up to three requests after the apply. They help users to move
// from client-side apply.

// kubectlLastApplied is the manager that owns kubectl's record of its client-side apply after the
// migration. No manifest has the record, so without this owner an apply would prune it.
const kubectlLastApplied = "kubectl-last-applied"

// Request is one of the requests that kubectl sends for one apply.
type Request struct {
	Name    string // apply, save record, migrate or apply again
	Manager string
	Object  managedfields.Object // the stored object after the request
}

// ApplyAsKubectl carries out the requests that kubectl apply --server-side sends for a manifest. It
// returns these requests in order. The object of the last request is the outcome.
//
//  1. apply: manager applies config.
//  2. save record: "kubectl-last-applied" applies kubectl's record of its client-side apply as it
//     is. This is sent if manager is kubectl, and the object has the record, and no applier owns
//     it.
//  3. migrate: if an updater owns the record, then [migrateClientSide].
//  4. apply again: after a migration, manager applies config once more. This prunes fields that
//     client-side apply once set and config lacks.
//
// All requests go to the endpoint of m, which may be a subresource.
//
// Errors are those of [managedfields.FieldManager.Apply] and [managedfields.FieldManager.Update].
// An error comes with the requests that succeeded before it. kubectl stops at any error, but
// reports an error after request 1 only as a warning.
func ApplyAsKubectl(
	m *managedfields.FieldManager, live, config managedfields.Object, manager string, force bool,
) ([]Request, error) {
	object, err := m.Apply(live, config, manager, force)
	if err != nil {
		return nil, err
	}
	further, failed, err := afterApply(m, object, config, manager, force, func(_, outcome managedfields.Object) (managedfields.Object, error) {
		return outcome, nil
	})
	if err != nil {
		err = fmt.Errorf("%s: %w", failed, err)
	}
	return append([]Request{{"apply", manager, object}}, further...), err
}

// afterApply carries out the requests of [ApplyAsKubectl] after the first one, which stored object.
// store returns what is stored for the outcome of a request, given the object before it, or why the
// request is refused. An error comes with the name of the request that fails.
func afterApply(
	m *managedfields.FieldManager, object, config managedfields.Object, manager string, force bool,
	store func(before, outcome managedfields.Object) (managedfields.Object, error),
) (sent []Request, failed string, _ error) {
	send := func(name, by string, outcome managedfields.Object, err error) error {
		if err == nil {
			outcome, err = store(object, outcome)
		}
		if err != nil {
			failed = name
			return err
		}
		object = outcome
		sent = append(sent, Request{name, by, object})
		return nil
	}
	if manager == kubectl && recordIsLoose(object) {
		saved, err := m.Apply(object, recordOnly(object), kubectlLastApplied, false)
		if err := send("save record", kubectlLastApplied, saved, err); err != nil {
			return sent, failed, err
		}
	}
	entries, err := migrateClientSide(object.Entries, manager)
	if err == nil && sameEntries(entries, object.Entries) {
		return sent, "", nil
	}
	var migrated managedfields.Object
	if err == nil {
		migrated, err = m.Update(object, managedfields.Object{Content: object.Content, Entries: entries}, manager)
	}
	if err := send("migrate", manager, migrated, err); err != nil {
		return sent, failed, err
	}
	again, err := m.Apply(object, config, manager, force)
	err = send("apply again", manager, again, err)
	return sent, failed, err
}

// saveRecord returns the entries of o with an owner for kubectl's record of its client-side apply, as
// request 2 of [ApplyAsKubectl] adds it: the applier "kubectl-last-applied". A migration to the
// manager kubectl begins with it. Otherwise kubectl alone would own the record, and its next apply
// would prune it. The new entry comes last, and has the version and time of the updater that owns
// the record. saveRecord returns o's own entries if o has no record, if no updater owns the record,
// or if an applier does.
func saveRecord(o managedfields.Object) []managedfields.Entry {
	record := fieldpath.SetOf(lastAppliedPath)
	writers := findOwners(o.Entries, merge.Update, record)
	if len(writers) == 0 || !recordIsLoose(o) {
		return o.Entries
	}
	last := slices.MaxFunc(writers, func(a, b managedfields.Entry) int { return a.Time.Compare(b.Time) })
	return append(slices.Clone(o.Entries), managedfields.Entry{
		Manager: kubectlLastApplied, Operation: merge.Apply, APIVersion: last.APIVersion, Time: last.Time,
		FieldsType: last.FieldsType, FieldsV1: managedfields.FieldsOf(record),
	})
}

// recordIsLoose reports whether o has kubectl's record and no applier owns it.
func recordIsLoose(o managedfields.Object) bool {
	_, found := managing.LastApplied(o.Content)
	return found && len(findOwners(o.Entries, merge.Apply, fieldpath.SetOf(lastAppliedPath))) == 0
}

// recordOnly returns a configuration with kubectl's record in o and the identity of o.
func recordOnly(o managedfields.Object) managedfields.Object {
	record, _ := managing.LastApplied(o.Content)
	annotations := value.Object(value.Member{Name: managedfields.LastAppliedAnnotation, Value: value.String(record)})
	metadata := value.Object(value.Member{Name: "annotations", Value: annotations})
	config := value.Object(value.Member{Name: "metadata", Value: metadata})
	return managedfields.Object{Content: withIdentity(config, o.Content)}
}
