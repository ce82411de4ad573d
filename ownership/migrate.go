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

// Giving what client-side apply owns to server-side apply: who is migrated, what becomes of the
// entries, and what to do with objects whose managed fields were lost. A field that an applier
// gives up is removed only if nobody else owns it; and what somebody once applied on the client
// side is owned by an updater, so it stays for ever unless that is migrated:
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

// Migrate gives what client-side apply owns to server-side apply, and returns the entries of o
// after that: what the updaters called from wrote through the subresource belongs to the applier
// called to. For each name of from, in sorted order:
//
//  1. The receiver is the first entry of the applier. If there is none, it is the first entry of
//     the updater, which becomes the applier's and keeps its version and time. If there is none of
//     these either, nothing changes.
//  2. What the updater's first entry of the receiver's version owns is added to the receiver.
//  3. All entries of the updater are removed. What those of other versions own becomes the
//     receiver's, in its version, as versions say how; only what entries of versions that are gone
//     own has no owner any more. With nil versions, nothing that is of another version has.
//
// The entries keep their order, and o is left as it is. With nil versions this is what client-go's
// csaupgrade does, but names are not migrated in random order, and an entry without fieldsV1 is no
// error. To see beforehand what it leads to use [PlanMigration]; to carry it out in a cluster use
// [EntriesPatch].
//
// The error wraps [ErrNoManager] unless one of from has an entry or from is empty; or it is an
// [*managedfields.EntryError] for an entry whose set must be read and cannot be, or that of a
// converter.
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
	// Rule 3 for nil versions: what else the givers own has no owner any more.
	if versions == nil {
		return out, nil
	}
	// The receiver as it is after rules 1 and 2; rule 3 adds to it.
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

// migrate is Migrate for one name, with nil versions. It may write to entries.
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

// kubectl is the name in which kubectl applies on the server side, unless it is told another one.
const kubectl = "kubectl"

// lastAppliedPath is where kubectl records its client-side apply.
var lastAppliedPath = fieldpath.Path{
	fieldpath.Field("metadata"), fieldpath.Field("annotations"), fieldpath.Field(managedfields.LastAppliedAnnotation),
}

// ClientSideAppliers returns the names of the updaters that own kubectl's record of its client-side
// apply, sorted: those that kubectl migrates when it goes over to server-side apply.
func ClientSideAppliers(entries []managedfields.Entry) []string {
	var names []string
	for _, e := range findOwners(entries, merge.Update, fieldpath.SetOf(lastAppliedPath)) {
		names = append(names, e.Manager)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// migrateClientSide migrates what kubectl would migrate to the applier called to: [Migrate] from
// [ClientSideAppliers], on the object itself. For the whole of what kubectl does then see
// [ApplyAsKubectl].
func migrateClientSide(entries []managedfields.Entry, to string) ([]managedfields.Entry, error) {
	return Migrate(managedfields.Object{Entries: entries}, nil, ClientSideAppliers(entries), to, "")
}

// HasLostOwners reports whether o was written by kubectl's client-side apply but has lost its
// managed fields, as when a tool has cleared them. Then the first server-side apply invents an
// owner for everything in the object, whoever wrote it, and a migration that gives that owner's
// fields to an applier makes the applier's next apply remove what others wrote.
// [EntriesOfLastApplied] is the way out.
func HasLostOwners(o managedfields.Object) bool {
	record, _ := managing.LastApplied(o.Content)
	return len(o.Entries) == 0 && record != ""
}

// EntriesOfLastApplied returns entries for an object, a t, that [HasLostOwners]: manager becomes
// the applier of what kubectl's record says was applied, as far as o still has it, in o's version
// and without a time. All else has no owner, and so nothing that others wrote can be removed in
// manager's name.
//
// The error says why the record or o is no t, or why the record is no JSON text.
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
