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

// Contest is a field that an apply would change, with everybody who has a conflict over it.
type Contest struct {
	Path         fieldpath.Path
	Live, Wanted value.Value
	Owners       []merge.Entry
}

// Contests groups conflicts by field, in the order in which the fields come first.
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

// Rivals is what there is to know, besides their names, of the owners with whom a run of applies
// has conflicts. The zero Rivals have no conflict yet.
type Rivals struct {
	SameName    bool // one is an updater of the applier's own name
	BeforeFirst bool // one is [managedfields.BeforeFirstApply]

	// From are the names of those who wrote with kubectl's client-side apply, or otherwise with
	// kubectl, in the order in which they come first.
	From []string
}

// Add adds the owners of contests, those of an apply of t by applier.
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

// isKubectls reports whether m wrote with kubectl, by an update of the object itself: as kubectl,
// or as kubectl-client-side-apply, kubectl-edit and the like. from are those who did by the record
// of client-side apply, under whatever name.
func isKubectls(m merge.Manager, from []string) bool {
	return m.Operation == merge.Update && m.Subresource == "" &&
		(slices.Contains(from, m.Name) || m.Name == kubectlName || strings.HasPrefix(m.Name, kubectlName+"-"))
}
