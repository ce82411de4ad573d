package ownership

import (
	"errors"
	"fmt"
	"slices"
	"unicode"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
)

// Findings about entries alone, for which no schema is needed. The parts of an entry that are
// checked, and their codes:
//
//	the names               invalid-manager, invalid-subresource
//	the set                 undecodable, which ends the check of the entry; empty-set, not-canonical
//	the manager             before-first-apply, ancient-changes, client-side-apply, split-manager
//	the other entries       duplicate-identity

// The largest sizes of the names in an entry, in bytes.
const (
	maxManager     = 128
	maxSubresource = 256
)

// clientSideApply is the manager of kubectl's client-side apply.
const clientSideApply = "kubectl-client-side-apply"

// checkEntry checks entry i alone.
func (k *checker) checkEntry(i int) {
	e := k.object.Entries[i]
	k.checkNames(i)
	read, err := managing.Read(k.object.Entries, i)
	fields := read.Fields
	switch {
	// An unreadable entry has no further findings.
	case err != nil:
		k.addError(undecodable, i, errors.Unwrap(err),
			"Every apply fails, and the next update drops all owners. Remove the entry with a patch of metadata.managedFields.")
		return
	// The next write repairs the next two cases.
	case fields.IsEmpty():
		k.add(emptySet, i, nil, "the manager owns nothing", "None needed: the next tracked write drops the entry.")
	case !isCanonical(e.FieldsV1, fields):
		k.add(notCanonical, i, nil, "the set is not written as kube-apiserver writes it",
			"None needed: the next tracked write prints it in the usual form.")
	}
	k.checkStuck(i, fields)
	if j, found := k.again[i]; found {
		k.add(duplicateIdentity, i, nil, fmt.Sprintf("entry %d is of the same manager, and only the last one counts", j),
			"Fields that only this entry has have already lost their owner. Let the manager write again, or join the two entries with a patch.")
	}
}

// repetitions returns, for each entry that another one of the same manager follows, the index of
// the next one.
func repetitions(entries []managedfields.Entry) map[int]int {
	next, last := map[int]int{}, map[merge.Manager]int{}
	for i, e := range entries {
		if before, found := last[managing.Identity(e)]; found {
			next[before] = i
		}
		last[managing.Identity(e)] = i
	}
	return next
}

// isCanonical reports whether kube-apiserver would write set as written. The order of names does
// not count, because printers change it.
func isCanonical(written managedfields.Fields, set fieldpath.Set) bool {
	document, err := managing.Document(written)
	return err == nil && document.Equal(paths.Value(set))
}

// checkNames reports names that kube-apiserver refuses.
func (k *checker) checkNames(i int) {
	e := k.object.Entries[i]
	if n := len(e.Manager); n > maxManager {
		k.add(invalidManager, i, nil, fmt.Sprintf("the name has %d bytes, and may have %d", n, maxManager),
			"The server refuses the object. Transfer the fields to a manager with a shorter name.")
	}
	for pos, r := range e.Manager {
		if !unicode.IsPrint(r) {
			k.add(invalidManager, i, nil, fmt.Sprintf("the name has the character %U, which is not printable, at byte %d", r, pos),
				"The server refuses the object. Transfer the fields to a manager with a printable name.")
			break
		}
	}
	if n := len(e.Subresource); n > maxSubresource {
		k.add(invalidSubresource, i, nil, fmt.Sprintf("the subresource has %d bytes, and may have %d", n, maxSubresource),
			"The server refuses the object. Remove the entry with a patch of metadata.managedFields.")
	}
}

// checkStuck reports fields of updaters whose names are, or should be, no longer used for writes.
func (k *checker) checkStuck(i int, fields fieldpath.Set) {
	e := k.object.Entries[i]
	if e.Operation != merge.Update || fields.IsEmpty() {
		return
	}
	n := len(k.found)
	// Only the first matching case is reported. Cases that tell more about the owner come first,
	// because they lead to a better remedy.
	switch {
	// The server invented this owner for all earlier writers.
	case e.Manager == managedfields.BeforeFirstApply:
		k.add(beforeFirstApply, i, nil, "the owner that the server invented at the first apply holds "+countFields(fields),
			"Fields stay when a manifest drops them, and changing them conflicts. Transfer them to the managers that want them.")
	// The server joined several updaters.
	case e.Manager == managedfields.AncientChanges:
		k.add(ancientChanges, i, nil, "updaters that the server joined, because there were too many, hold "+countFields(fields),
			"Their owners cannot be told apart any more. Let each tool that updates the object use one name.")
	// kubectl's client-side apply, found by its name or by the record that it keeps.
	case e.Manager == clientSideApply || fields.Has(lastAppliedPath):
		k.add(clientSideApplied, i, nil, "client-side apply holds "+countFields(fields),
			"Fields stay when a manifest that is applied server-side drops them. Migrate them to the applier.")
	// A manager that applies, and that holds other fields by an update.
	case k.appliers[applierOf(e)]:
		k.add(splitManager, i, nil, "the manager, which applies, holds "+countFields(fields)+" by an update",
			"Such fields stay when its configuration drops them. Migrate them to the applier, or let the update use another name.")
	}
	if len(k.found) > n {
		k.found[n].Fields = fields
	}
}

// applierOf returns the applier with e's name and subresource.
func applierOf(e managedfields.Entry) merge.Manager {
	return merge.Manager{Name: e.Manager, Operation: merge.Apply, Subresource: e.Subresource}
}

// countFields returns the number of members in words, such as "2 fields".
func countFields(fields fieldpath.Set) string {
	if n := fields.Len(); n != 1 {
		return fmt.Sprintf("%d fields", n)
	}
	return "1 field"
}

// checkWhole finds problems that no single entry causes.
func (k *checker) checkWhole() {
	limit := k.config.MaxUpdateManagers
	if limit == 0 {
		limit = 10
	}
	updaters := 0
	for _, e := range k.object.Entries {
		if e.Operation == merge.Update {
			updaters++
		}
	}
	// If there are more updaters than kube-apiserver keeps, the next update joins the oldest (S10).
	if updaters > limit {
		k.add(tooManyUpdaters, -1, nil, fmt.Sprintf("%d updaters, and the server keeps %d", updaters, limit),
			"The next update joins the oldest of them as ancient-changes. Let each tool that updates the object use one name.")
	}
	if HasLostOwners(k.object) {
		k.add(lostOwners, -1, slices.Clone(lastAppliedPath), "client-side apply wrote the object, and its managed fields are gone",
			"The first apply makes before-first-apply the owner of every field, also those of other managers: do not migrate them to an applier. "+
				"Make entries from the record of the last client-side apply instead.")
	}
}
