package managedfields

import (
	"cmp"
	"slices"

	"github.com/deed-project/deed/merge"
)

// AncientChanges owns what updaters changed that are too many to keep apart. There is one of this name for each version.
const AncientChanges = "ancient-changes"

// capUpdaters joins the updaters that were active longest ago, those of one version with each other, until no more than
// Config.MaxUpdateManagers are left or none can be joined:
//
//	S10  When an update leaves more than ten updaters, the oldest of each version are joined as ancient-changes until ten
//	     are left. Appliers do not count.
//
// The bucket that takes a version's updaters replaces the first of them, and has the time of the last. kube-apiserver goes
// on to the bucket itself when that is not the oldest of its version, and then loses all that it holds; so does this.
func (w *write) capUpdaters() error {
	if w.managers.Len() <= w.config.MaxUpdateManagers {
		return nil
	}
	var updaters []merge.Entry
	for e := range w.managers.All() {
		if e.Manager.Operation != merge.Apply {
			updaters = append(updaters, e)
		}
	}
	slices.SortStableFunc(updaters, func(a, b merge.Entry) int {
		return cmp.Or(cmp.Compare(unixSeconds(a.Time), unixSeconds(b.Time)), a.Manager.Compare(b.Manager))
	})
	oldest := map[string]merge.Manager{} // by version
	for i, left := 0, len(updaters); i < len(updaters) && left > w.config.MaxUpdateManagers; i++ {
		e, _ := w.managers.Get(updaters[i].Manager)
		first, found := oldest[e.APIVersion]
		if !found {
			oldest[e.APIVersion] = e.Manager
			continue
		}
		w.join(first, e)
		left--
	}
	return nil
}

// join moves e to the bucket of its version. If there is no bucket yet, the entry of first becomes it.
func (w *write) join(first merge.Manager, e merge.Entry) {
	bucket := merge.Entry{Manager: merge.Manager{Name: AncientChanges, Operation: merge.Update, APIVersion: e.APIVersion}}
	held, found := w.managers.Get(bucket.Manager)
	if !found {
		held, _ = w.managers.Get(first)
		w.managers = w.managers.Without(first)
	}
	bucket.Fields, bucket.APIVersion, bucket.Time = e.Fields.Union(held.Fields), e.APIVersion, e.Time
	w.managers = w.managers.With(bucket).Without(e.Manager)
}
