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

// Giving fields from one manager to another, as an edit of entries. ann gives bob one port of a
// keyed list, of which she keeps the rest:
//
//	ann   .spec.ports[port=80] .spec.ports[port=80].port .spec.ports[port=80].name
//	give  .spec.ports[port=80].name
//
//	ann   .spec.ports[port=80] .spec.ports[port=80].port
//	bob   .spec.ports[port=80] .spec.ports[port=80].port .spec.ports[port=80].name    by rule 2

// ErrNoManager is the transfer or migration from managers of which none has an entry. What wraps it
// says who is wanted and who there is.
var ErrNoManager = errors.New("no such manager")

// noManager returns [ErrNoManager], wrapped: from are those who are wanted, and there the managers
// to choose from, in the order of the entries.
func noManager(from []string, there []merge.Manager) error {
	text := strings.Join(from, ", ")
	for i, m := range there {
		text += [...]string{"; there is ", ", "}[min(i, 1)] + m.String()
	}
	return fmt.Errorf("%w: %s", ErrNoManager, text)
}

// Transfer gives what one manager of o owns to another one, which may be new, and returns the
// entries after that, sorted as [managedfields.Encode] sorts them. Nobody's fields change but those
// of the two.
//
//  1. All of from's paths go, or, when within has any, those that are in it or below one of them.
//  2. When a part of an item in a keyed list goes and the item itself stays, the receiver becomes a
//     co-owner of the item and of its keys, as far as from owns them: every applier of the part
//     would be, and without that the item could go before it.
//  3. to gets the later one of the two times, a time that is not known being the earliest; from
//     keeps its own.
//  4. Who owns nothing any more is dropped, here as in every write.
//  5. within is in the version of from's fields. Where to has fields of another version, what goes
//     becomes those: versions says how, and nil versions that this is an error.
//
// Of an updater, the version belongs to its identity: from must say it; where to does not, it is
// that of the fields. The error is that of [managedfields.Decode], or it wraps [ErrNoManager],
// [ErrVersion] or what the converter returns.
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

// candidates returns the managers of the entries that may be meant, each once.
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

// split returns which paths of fields go and which stay, by rules 1 and 2 of Transfer.
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

// addItems adds the items of kept that given has something below, and their keys, to b.
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

// dropEmpty returns managers without those who own nothing.
func dropEmpty(managers merge.Managers) merge.Managers {
	var kept []merge.Entry
	for e := range managers.All() {
		if !e.Fields.IsEmpty() {
			kept = append(kept, e)
		}
	}
	return merge.ManagersOf(kept...)
}
