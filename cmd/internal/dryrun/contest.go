package dryrun

import (
	"slices"
	"strings"

	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/ownership"
	"github.com/deed-project/deed/value"
)

// Contest is a field that an apply would change, with all owners that conflict over it.
type Contest struct {
	Path         fieldpath.Path
	Live, Wanted value.Value
	Owners       []merge.Entry
}

// Contests groups conflicts by field, in the order of the first conflict over each field.
func Contests(conflicts merge.Conflicts) []*Contest {
	var out []*Contest
	byPath := map[secret.Key]*Contest{}
	for _, c := range conflicts {
		key := secret.KeyOf(c.Path)
		known := byPath[key]
		if known == nil || !known.Live.Equal(c.Live) || !known.Wanted.Equal(c.Wanted) {
			known = &Contest{Path: c.Path, Live: c.Live, Wanted: c.Wanted}
			byPath[key] = known
			out = append(out, known)
		}
		known.Owners = append(known.Owners, c.Owner)
	}
	return out
}

// Rivals describes the owners with whom a run of applies has conflicts, beside their names. The zero Rivals has no conflicts yet.
type Rivals struct {
	SameName    bool // an owner is an updater with the applier's own name
	BeforeFirst bool // an owner is [managedfields.BeforeFirstApply]

	// From holds the names of the managers that wrote with kubectl, by client-side apply or otherwise, in the order of their first
	// conflict.
	From []string
}

// Add adds the owners of contests, which are conflicts of an apply of t by applier.
func (r *Rivals) Add(t *Task, applier string, contests []*Contest) {
	from := ownership.ClientSideAppliers(t.Stored.Entries)
	for _, c := range contests {
		for _, owner := range c.Owners {
			m := owner.Manager
			r.SameName = r.SameName || m.Name == applier && m.Operation == merge.Update
			r.BeforeFirst = r.BeforeFirst || m.Name == managedfields.BeforeFirstApply
			if isKubectls(m, from) && !slices.Contains(r.From, m.Name) {
				r.From = append(r.From, m.Name)
			}
		}
	}
}

// isKubectls reports whether m is a manager of kubectl that updates the object itself: kubectl, kubectl-client-side-apply, kubectl-edit and
// the like. from holds further names, which the record of client-side apply proves to be kubectl's.
func isKubectls(m merge.Manager, from []string) bool {
	return m.Operation == merge.Update && m.Subresource == "" &&
		(slices.Contains(from, m.Name) || m.Name == kubectlName || strings.HasPrefix(m.Name, kubectlName+"-"))
}
