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
	c := capping{managers: out.managers, entries: merging.Entries(out.managers), buckets: map[string]*bucket{}}
	updaters := c.updaters()
	if len(updaters) <= limit {
		return out
	}
	c.gone = make([]bool, len(c.entries))
	for i, left := 0, len(updaters); i < len(updaters) && left > limit; i++ {
		if c.join(updaters[i].place) {
			left--
		}
	}
	out.managers = c.result()
	return out
}

// capping is what capUpdaters does. Entries are named by their places.
type capping struct {
	managers merge.Managers
	entries  []merge.Entry // of managers
	gone     []bool        // which of them are no entries any more
	buckets  map[string]*bucket
}

// updater is an updater's place, and when it was active last. Those of one second stay in the order
// of managers.
type updater struct {
	seconds int64
	place   int
}

// updaters returns all updaters, the oldest first.
func (c *capping) updaters() []updater {
	all := make([]updater, 0, len(c.entries))
	for i := range c.entries {
		if e := &c.entries[i]; e.Manager.Operation != merge.Apply {
			all = append(all, updater{unixSeconds(e.Time), i})
		}
	}
	slices.SortStableFunc(all, func(a, b updater) int {
		return cmp.Or(cmp.Compare(a.seconds, b.seconds), cmp.Compare(a.place, b.place))
	})
	return all
}

// bucket is what becomes the entry ancient-changes of a version.
type bucket struct {
	manager merge.Manager
	own     int  // the entry that there is of this manager, -1 without
	first   int  // the version's oldest updater
	spared  bool // first is still an entry of its own
	exists  bool // the bucket is an entry; then it has what is held, since at
	held    []int
	at      time.Time
}

// join lets an updater join the bucket of its version. The oldest of a version does not yet: it
// reports false.
func (c *capping) join(place int) bool {
	e := &c.entries[place]
	b := c.buckets[e.APIVersion]
	if b == nil {
		c.buckets[e.APIVersion] = c.newBucket(place)
		return false
	}
	c.gone[place] = true
	if place == b.own { // it joins itself, and goes
		b.exists, b.held = false, nil
		return true
	}
	if !b.exists && b.spared { // first becomes the bucket
		b.spared, b.held = false, []int{b.first}
		c.gone[b.first] = true
	}
	b.exists, b.held, b.at = true, append(b.held, place), e.Time
	return true
}

// newBucket returns the bucket of the version whose oldest updater is first. Where there is such an
// entry, that is the bucket.
func (c *capping) newBucket(first int) *bucket {
	version := c.entries[first].APIVersion
	b := &bucket{
		manager: merge.Manager{Name: AncientChanges, Operation: merge.Update, APIVersion: version},
		own:     -1, first: first, spared: true,
	}
	if i, found := merging.Search(c.managers, b.manager, 0); found {
		b.own, b.exists, b.held, b.at = i, true, []int{i}, c.entries[i].Time
		c.gone[i] = true // the bucket takes its place
	}
	return b
}

// result returns the managers with the buckets as their entries, and without those that are gone.
func (c *capping) result() merge.Managers {
	left := len(c.buckets)
	for _, gone := range c.gone {
		if !gone {
			left++
		}
	}
	out := make([]merge.Entry, 0, left)
	for i, gone := range c.gone {
		if !gone {
			out = append(out, c.entries[i])
		}
	}
	for version, b := range c.buckets {
		if b.exists {
			out = append(out, merge.Entry{Manager: b.manager, Fields: c.unite(b.held), APIVersion: version, Time: b.at})
		}
	}
	return merge.ManagersOf(out...)
}

// unite returns what the entries at these places own together. It costs n log n for n members of
// all of them.
func (c *capping) unite(places []int) fieldpath.Set {
	var b fieldpath.Builder
	for _, i := range places {
		paths.AddSet(&b, c.entries[i].Fields)
	}
	return b.Set()
}
