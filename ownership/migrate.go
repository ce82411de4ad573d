package ownership

import (
	"errors"
	"fmt"
	"slices"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
)

// A migration gives the fields of client-side apply to server-side apply. This file also repairs
// objects that lost their managed fields. A field that an applier gives up is removed only if no
// other manager owns it. Fields of client-side apply belong to an updater, so without a migration
// they stay for ever:
//
//	before    csa Update v1: .spec.a .spec.b    ann Apply v1: .spec.b
//	after     ann Apply v1: .spec.a .spec.b

// findOwners returns the entries of the given operation that own all of fields. Entries that cannot
// be read own nothing.
func findOwners(entries []managedfields.Entry, op merge.Operation, fields fieldpath.Set) []managedfields.Entry {
	var out []managedfields.Entry
	for _, e := range entries {
		if e.Operation != op {
			continue
		}
		if owned, err := e.FieldsV1.Set(); err == nil && fields.Minus(owned).IsEmpty() {
			out = append(out, e)
		}
	}
	return out
}

// Migrate gives fields of client-side apply to server-side apply, and returns the entries of o
// after that. from has the names of updaters, and to is the name of the applier. Fields that these
// updaters wrote through the subresource become fields of the applier. For each name in from, in
// sorted order:
//
//  1. The receiver is the first entry of the applier. If there is none, the first entry of the
//     updater becomes the applier's, and keeps its version and time. If there is neither, nothing
//     changes.
//  2. The fields of the updater's first entry of the receiver's version are added to the receiver.
//  3. All entries of the updater are removed. versions converts their fields of other versions to
//     the receiver's version, and the receiver gets these. Fields of versions that are gone lose
//     their owner. With nil versions, all fields of other versions lose their owner.
//
// The entries keep their order, and o does not change. With nil versions, Migrate behaves like
// client-go's csaupgrade, with two differences: names have a fixed order, and an entry without
// fieldsV1 is no error. [PlanMigration] shows the effects beforehand. [EntriesPatch] makes the
// patch for a cluster.
//
// The error wraps [ErrNoManager] if no updater with a name in from has an entry, unless from is
// empty. It is an [*managedfields.EntryError] if a set that is needed cannot be read. Other errors
// are those of a converter.
func Migrate(
	o managedfields.Object, versions *Versions, from []string, to, subresource string,
) ([]managedfields.Entry, error) {
	isUpdater := func(e managedfields.Entry) bool { return e.Operation == merge.Update && e.Subresource == subresource }
	isGiver := func(e managedfields.Entry) bool { return isUpdater(e) && slices.Contains(from, e.Manager) }
	if len(from) > 0 && !slices.ContainsFunc(o.Entries, isGiver) {
		return nil, noManager(from, candidates(o.Entries, isUpdater))
	}
	out := slices.Clone(o.Entries)
	for _, name := range slices.Compact(slices.Sorted(slices.Values(from))) {
		var err error
		if out, err = migrate(out, name, to, subresource); err != nil {
			return nil, err
		}
	}
	// Rule 3 for nil versions: the other fields of the givers have no owner any more.
	if versions == nil {
		return out, nil
	}
	// The receiver after rules 1 and 2. Rule 3 adds to it.
	receiver := slices.IndexFunc(out, func(e managedfields.Entry) bool {
		return e.Manager == to && e.Operation == merge.Apply && e.Subresource == subresource
	})
	if receiver < 0 {
		return out, nil
	}
	fields, err := readFields(out, receiver)
	if err != nil {
		return nil, err
	}
	for i, e := range o.Entries {
		if !isGiver(e) || e.APIVersion == out[receiver].APIVersion {
			continue
		}
		given, err := readFields(o.Entries, i)
		if err == nil {
			given, err = versions.into(o, given, e.APIVersion, out[receiver].APIVersion)
		}
		if err != nil && !errors.Is(err, merge.ErrNoVersion) {
			return nil, err
		}
		fields = fields.Union(given)
	}
	out[receiver].FieldsV1 = managedfields.FieldsOf(fields)
	return out, nil
}

// migrate is Migrate for one name, with nil versions. It may change entries.
func migrate(entries []managedfields.Entry, from, to, subresource string) ([]managedfields.Entry, error) {
	isUpdater := func(e managedfields.Entry) bool {
		return e.Manager == from && e.Operation == merge.Update && e.Subresource == subresource
	}
	receiver := slices.IndexFunc(entries, func(e managedfields.Entry) bool {
		return e.Manager == to && e.Operation == merge.Apply && e.Subresource == subresource
	})
	if receiver < 0 {
		if receiver = slices.IndexFunc(entries, isUpdater); receiver < 0 {
			return entries, nil
		}
	}
	fields, err := readFields(entries, receiver)
	if err != nil {
		return nil, err
	}
	entries[receiver].Operation, entries[receiver].Manager = merge.Apply, to
	giver := slices.IndexFunc(entries, func(e managedfields.Entry) bool {
		return isUpdater(e) && e.APIVersion == entries[receiver].APIVersion
	})
	if giver >= 0 {
		given, err := readFields(entries, giver)
		if err != nil {
			return nil, err
		}
		fields = fields.Union(given)
	}
	entries[receiver].FieldsV1 = managedfields.FieldsOf(fields)
	return slices.DeleteFunc(entries, isUpdater), nil
}

// readFields returns the set of entry i.
func readFields(entries []managedfields.Entry, i int) (fieldpath.Set, error) {
	fields, err := entries[i].FieldsV1.Set()
	if err != nil {
		return fieldpath.Set{}, &managedfields.EntryError{Index: i, Manager: entries[i].Manager, Err: fmt.Errorf("error decoding set: %w", err)}
	}
	return fields, nil
}

// kubectl is the default manager of kubectl's server-side apply.
const kubectl = "kubectl"

// lastAppliedPath is the path of kubectl's record of its client-side apply.
var lastAppliedPath = fieldpath.Path{
	fieldpath.Field("metadata"), fieldpath.Field("annotations"), fieldpath.Field(managedfields.LastAppliedAnnotation),
}

// ClientSideAppliers returns the names of the updaters that own kubectl's record of its client-side
// apply, sorted. kubectl migrates these when it changes to server-side apply.
func ClientSideAppliers(entries []managedfields.Entry) []string {
	var names []string
	for _, e := range findOwners(entries, merge.Update, fieldpath.SetOf(lastAppliedPath)) {
		names = append(names, e.Manager)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// migrateClientSide migrates fields to the applier with the name to, as kubectl does: [Migrate]
// from [ClientSideAppliers], on the object itself. [ApplyAsKubectl] carries out all requests of
// kubectl.
func migrateClientSide(entries []managedfields.Entry, to string) ([]managedfields.Entry, error) {
	return Migrate(managedfields.Object{Entries: entries}, nil, ClientSideAppliers(entries), to, "")
}

// HasLostOwners reports whether kubectl's client-side apply wrote o, but o has lost its managed
// fields, for example because a tool cleared them. The first server-side apply then invents one
// owner for everything in the object. If a migration gives that owner's fields to an applier, the
// next apply of the applier removes fields of other managers. [EntriesOfLastApplied] avoids this.
func HasLostOwners(o managedfields.Object) bool {
	record, _ := managing.LastApplied(o.Content)
	return len(o.Entries) == 0 && record != ""
}

// EntriesOfLastApplied returns entries for an object of type t that [HasLostOwners]. manager
// becomes the applier of the fields that are in kubectl's record and still in o. Its entry has o's
// version and no time. All other fields have no owner, so an apply by manager cannot remove fields
// that other managers wrote.
//
// The error says why the record or o does not conform to t, or why the record is no JSON text.
func EntriesOfLastApplied(o managedfields.Object, t *schema.Type, manager string) ([]managedfields.Entry, error) {
	text, _ := managing.LastApplied(o.Content)
	record, err := managing.ReadLastApplied(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", managedfields.LastAppliedAnnotation, err)
	}
	applied, err := typed.New(record, t)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", managedfields.LastAppliedAnnotation, err)
	}
	live, err := typed.New(o.Content, t, typed.AllowDuplicates)
	if err != nil {
		return nil, err
	}
	fields := applied.Fields().Intersect(live.Fields()).Minus(managing.SystemFields())
	return managedfields.Encode(merge.ManagersOf(merge.Entry{
		Manager: merge.Manager{Name: manager, Operation: merge.Apply}, Fields: fields,
		APIVersion: o.Content.Get("apiVersion").Str(),
	})), nil
}
