package managedfields

import (
	"cmp"
	"slices"
	"time"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/merge"
)

// Step Cap limits the entries of an object that clients write under ever new names. With a limit
// of 2:
//
//	updaters, oldest first   ann v1    bob v1    eve v1
//	ann and bob are joined   ancient-changes v1, since bob's time    eve v1

// AncientChanges owns the changes of updaters that are too many to keep apart. There is one manager
// of this name for each version.
const AncientChanges = "ancient-changes"

// capUpdaters joins the least recently active updaters, within each version, until at most
// Config.MaxUpdateManagers are left or none can be joined:
//
//	S10  When an update leaves more than ten updaters, the oldest of each version are joined as
//	     ancient-changes until ten are left. Appliers do not count.
//
// The bucket of a version replaces the first updater that it takes, and has the time of the last
// one. A stored bucket that is not the oldest updater of its version may come up itself. Then
// kube-apiserver loses its content, and so does capUpdaters.
//
// Cost: n log n for n managers, and for the fields that they own.
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
		if c.join(int(updaters[i])) {
			left--
		}
	}
	out.managers = c.result()
	return out
}

// capping is the state of capUpdaters. It names entries by their places.
type capping struct {
	managers merge.Managers
	entries  []merge.Entry // of managers
	gone     []bool        // whether an entry is left out of the result
	buckets  map[string]*bucket
}

// updaters returns the places of all updaters, the oldest first. Updaters of the same second stay in
// their order.
func (c *capping) updaters() []uint32 {
	var all []uint32
	for i := range c.entries {
		if c.entries[i].Manager.Operation != merge.Apply {
			all = append(all, uint32(i))
		}
	}
	slices.SortStableFunc(all, func(a, b uint32) int {
		return cmp.Compare(unixSeconds(c.entries[a].Time), unixSeconds(c.entries[b].Time))
	})
	return all
}

// bucket is the future entry ancient-changes of a version.
type bucket struct {
	manager merge.Manager
	own     int  // the place of this manager's stored entry, -1 without one
	first   int  // the version's oldest updater
	spared  bool // first is still an entry of its own
	exists  bool // whether the bucket is an entry; it then unites the entries held, with the time at
	held    []int
	at      time.Time
}

// join adds an updater to the bucket of its version. The oldest updater of a version only opens the
// bucket: join then returns false.
func (c *capping) join(place int) bool {
	e := &c.entries[place]
	b := c.buckets[e.APIVersion]
	if b == nil {
		c.buckets[e.APIVersion] = c.newBucket(place)
		return false
	}
	c.gone[place] = true
	if place == b.own { // the bucket joins itself, and is lost
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

// newBucket returns the bucket of the version whose oldest updater is first. A stored entry
// ancient-changes becomes the bucket.
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

// result returns the managers that are left, with the buckets as entries.
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

// unite returns the union of the sets at these places. Cost: n log n for n members of all sets.
func (c *capping) unite(places []int) fieldpath.Set {
	var b fieldpath.Builder
	for _, i := range places {
		paths.AddSet(&b, c.entries[i].Fields)
	}
	return b.Set()
}
