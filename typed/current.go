package typed

import (
	"hash/maphash"
	"sync/atomic"
	"weak"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/schema"
)

// current remembers sets that [Reconcile] found to be current, which are not stale under a type, for the whole process: the
// sets of managers that a request does not touch come again and again, in the same storage if they were kept.
//
// It is a table of fixed size. A set has one place, found by its storage, and takes it from the set that was there. Reading and
// writing a place are single atomic operations, so nobody waits for anybody.
//
// It keeps the storage of currentSize sets of at most currentSet bytes alive: at the most about 70 MB, and mostly less than one.
// It keeps no type alive.
var current = currentSets{seed: maphash.MakeSeed()}

const (
	currentSize = 1024
	currentSet  = 64 << 10
)

type currentSets struct {
	seed   maphash.Seed
	places [currentSize]atomic.Pointer[currentUnder]
}

// currentUnder says that a set is current under a type. What a set is cannot change as long as its storage is referred to.
type currentUnder struct {
	set fieldpath.Storage
	t   weak.Pointer[schema.Type]
}

func (c *currentSets) place(set fieldpath.Storage) *atomic.Pointer[currentUnder] {
	return &c.places[maphash.Comparable(c.seed, set)%currentSize]
}

// has reports whether s is known to be current under t.
func (c *currentSets) has(s fieldpath.Set, t *schema.Type) bool {
	set := s.Storage()
	known := c.place(set).Load()
	return known != nil && known.set == set && known.t.Value() == t
}

// add remembers that s is current under t.
func (c *currentSets) add(s fieldpath.Set, t *schema.Type) {
	if set := s.Storage(); !s.IsEmpty() && s.Size() <= currentSet {
		c.place(set).Store(&currentUnder{set, weak.Make(t)})
	}
}
