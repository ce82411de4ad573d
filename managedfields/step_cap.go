package managedfields

import (
	"cmp"
	"slices"
	"time"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/merge"
)

// Step Cap. An object that is written by ever new names must not grow without end. With a limit of
// 2:
//
//	updaters, oldest first   ann v1    bob v1    eve v1
//	ann and bob are joined   ancient-changes v1, since bob's time    eve v1

// AncientChanges owns what updaters changed that are too many to keep apart. There is one of this
// name for each version.
const AncientChanges = "ancient-changes"

// capUpdaters joins the updaters that were active longest ago, those of one version with each
// other, until no more than Config.MaxUpdateManagers are left or none can be joined:
//
//	S10  When an update leaves more than ten updaters, the oldest of each version are joined as
//	     ancient-changes until ten are left. Appliers do not count.
//
// The bucket that takes a version's updaters replaces the first of them, and has the time of the
// last. kube-apiserver goes on to the bucket itself when that is not the oldest of its version, and
// then loses all that it holds; so does this.
//
// It costs n log n for n managers, and as much for what they own.
func (r *request) capUpdaters(out outcome) outcome {
	limit := r.config.MaxUpdateManagers
	if merging.Len(out.managers) <= limit {
		return out
	}
	entries := merging.Entries(out.managers)
	var updaters []updater
	for i := range entries {
		if entries[i].Manager.Operation != merge.Apply {
			updaters = append(updaters, updater{unixSeconds(entries[i].Time), i})
		}
	}
	slices.SortFunc(updaters, func(a, b updater) int {
		return cmp.Or(cmp.Compare(a.seconds, b.seconds), cmp.Compare(a.place, b.place))
	})
	buckets := map[string]*bucket{} // by version
	gone := map[merge.Manager]bool{}
	for i, left := 0, len(updaters); i < len(updaters) && left > limit; i++ {
		e := entries[updaters[i].place]
		if b, found := buckets[e.APIVersion]; found {
			b.join(e, gone)
			left--
		} else {
			buckets[e.APIVersion] = newBucket(e, out.managers)
		}
	}
	out.managers = withBuckets(out.managers, buckets, gone)
	return out
}

// updater is an updater's place among the managers, and when it was active last. Those of one second stay in the order of managers.
type updater struct {
	seconds int64
	place   int
}

// bucket is what becomes the entry ancient-changes of a version.
type bucket struct {
	manager merge.Manager
	first   merge.Entry // the version's oldest updater
	spared  bool        // first is still an entry of its own
	exists  bool        // there is such an entry; then it holds held, since at
	held    []fieldpath.Set
	at      time.Time
}

// newBucket returns the bucket of the version of first, its oldest updater: the entry that managers
// have, if they have one.
func newBucket(first merge.Entry, managers merge.Managers) *bucket {
	b := &bucket{
		manager: merge.Manager{Name: AncientChanges, Operation: merge.Update, APIVersion: first.APIVersion},
		first:   first, spared: true,
	}
	if e, found := managers.Get(b.manager); found {
		b.exists, b.held, b.at = true, []fieldpath.Set{e.Fields}, e.Time
	}
	return b
}

// join moves e to the bucket, and says in gone whose entries go.
func (b *bucket) join(e merge.Entry, gone map[merge.Manager]bool) {
	gone[e.Manager] = true
	if e.Manager == b.manager { // it joins itself, and goes
		b.exists, b.held = false, nil
		return
	}
	if !b.exists && b.spared { // first becomes the bucket
		b.spared, b.held = false, []fieldpath.Set{b.first.Fields}
		gone[b.first.Manager] = true
	}
	b.exists, b.held, b.at = true, append(b.held, e.Fields), e.Time
}

// withBuckets returns managers with the buckets as their entries, and without those that are gone.
func withBuckets(managers merge.Managers, buckets map[string]*bucket, gone map[merge.Manager]bool) merge.Managers {
	out := make([]merge.Entry, 0, merging.Len(managers)+len(buckets))
	for e := range managers.All() {
		b := buckets[e.APIVersion]
		if !gone[e.Manager] && (b == nil || e.Manager != b.manager) {
			out = append(out, e)
		}
	}
	for version, b := range buckets {
		if b.exists {
			out = append(out, merge.Entry{Manager: b.manager, Fields: unite(b.held), APIVersion: version, Time: b.at})
		}
	}
	return merge.ManagersOf(out...)
}

// unite returns the union of sets. It costs n log n for n members of all of them.
func unite(sets []fieldpath.Set) fieldpath.Set {
	var b fieldpath.Builder
	for _, s := range sets {
		paths.AddSet(&b, s)
	}
	return b.Set()
}
