package ownership

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
)

// Transfer edits entries to give fields from one manager to another. ann gives bob one field of a
// port in a keyed list, and keeps the rest:
//
//	ann   .spec.ports[port=80] .spec.ports[port=80].port .spec.ports[port=80].name
//	give  .spec.ports[port=80].name
//
//	ann   .spec.ports[port=80] .spec.ports[port=80].port
//	bob   .spec.ports[port=80] .spec.ports[port=80].port .spec.ports[port=80].name    by rule 2

// ErrNoManager reports a transfer or migration from managers that have no entry. The error that
// wraps it names the wanted managers and the managers with entries.
var ErrNoManager = errors.New("no such manager")

// noManager wraps [ErrNoManager]. from has the wanted managers. there has the managers to choose
// from, in the order of the entries.
func noManager(from []string, there []merge.Manager) error {
	text := strings.Join(from, ", ")
	for i, m := range there {
		text += [...]string{"; there is ", ", "}[min(i, 1)] + m.String()
	}
	return fmt.Errorf("%w: %s", ErrNoManager, text)
}

// Transfer gives fields of the giver, from, to the receiver, to, which may be a new manager. It
// returns the entries of o after that, sorted as [managedfields.Encode] sorts them. The fields of
// all other managers stay.
//
//  1. All paths of the giver go. If within has paths, only these and the paths below them go.
//  2. A part of an item in a keyed list may go while the item itself stays. The receiver then
//     becomes a co-owner of the item, and of its keys that the giver owns. Each applier of the part
//     would own these. Without them, the item could be removed before the part.
//  3. The receiver gets the later of the two times. An unknown time is the earliest. The giver
//     keeps its time.
//  4. A manager that owns nothing any more is dropped, as in every write.
//  5. within is in the version of the giver's fields. If the receiver has fields of another
//     version, versions converts the given fields to that. With nil versions, this is an error.
//
// The version of an updater is part of its identity, so that from must have it. If to is an updater
// without a version, it gets the version of the fields. The error is that of
// [managedfields.Decode], or wraps [ErrNoManager], [ErrVersion] or the error of the converter.
func Transfer(
	o managedfields.Object, versions *Versions, from, to merge.Manager, within ...fieldpath.Path,
) ([]managedfields.Entry, error) {
	managers, err := managedfields.Decode(o.Entries)
	if err != nil {
		return nil, err
	}
	giver, ok := managers.Get(from)
	if !ok {
		return nil, noManager([]string{from.String()}, candidates(o.Entries, anyEntry))
	}
	if to.Operation == merge.Update && to.APIVersion == "" {
		to.APIVersion = giver.APIVersion
	}
	if from == to {
		return managedfields.Encode(managers), nil
	}
	receiver, ok := managers.Get(to)
	if !ok {
		receiver = merge.Entry{Manager: to, APIVersion: giver.APIVersion}
		if to.Operation == merge.Update {
			receiver.APIVersion = to.APIVersion
		}
	}
	// Rules 1 and 2, in the version of the giver; rule 5, in that of the receiver.
	given, kept := split(giver.Fields, within)
	if given, err = versions.into(o, given, giver.APIVersion, receiver.APIVersion); err != nil {
		return nil, fmt.Errorf("from %v to %v: %w", from, to, err)
	}
	receiver.Fields, receiver.Time = receiver.Fields.Union(given), later(receiver.Time, giver.Time)
	giver.Fields = kept
	return managedfields.Encode(dropEmpty(merging.With(merging.With(managers, giver), receiver))), nil
}

// candidates returns the managers of the entries that may admits, each once.
func candidates(entries []managedfields.Entry, may func(managedfields.Entry) bool) []merge.Manager {
	var out []merge.Manager
	seen := map[merge.Manager]bool{}
	for _, e := range entries {
		if m := managing.Identity(e); may(e) && !seen[m] {
			seen[m] = true
			out = append(out, m)
		}
	}
	return out
}

// anyEntry admits every entry as a candidate.
func anyEntry(managedfields.Entry) bool { return true }

// split returns the paths of fields that go and the paths that stay, by rules 1 and 2 of Transfer.
func split(fields fieldpath.Set, within []fieldpath.Path) (given, kept fieldpath.Set) {
	if len(within) == 0 {
		return fields, fieldpath.Set{}
	}
	kept = fields.Without(fieldpath.SetOf(within...))
	given = fields.Minus(kept)
	var shared fieldpath.Builder
	addItems(&shared, given, kept)
	return given.Union(shared.Set()), kept
}

// addItems adds to b the items of kept that have paths of given below them, and their keys in kept.
func addItems(b *fieldpath.Builder, given, kept fieldpath.Set) {
	for e := range given.Entries() {
		member, sub := kept.Get(e.Element)
		paths.Enter(b, e.Element)
		for _, key := range e.Element.Fields() {
			name := fieldpath.Field(key.Name)
			if kept, _ := sub.Get(name); kept {
				paths.Leaf(b, name)
			}
		}
		addItems(b, e.Sub, sub)
		paths.Leave(b, member && e.Element.Kind() == fieldpath.KindKey)
	}
}

// later returns the later one of two times.
func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// dropEmpty returns managers without the managers that own nothing.
func dropEmpty(managers merge.Managers) merge.Managers {
	var kept []merge.Entry
	for e := range managers.All() {
		if !e.Fields.IsEmpty() {
			kept = append(kept, e)
		}
	}
	return merge.ManagersOf(kept...)
}
