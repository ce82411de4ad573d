package managedfields

import (
	"hash/maphash"
	"sync/atomic"

	"github.com/deed-project/deed/fieldpath"
)

// parsedMaps is [parsed] for fieldsV1 that is held as maps. A map may change at any time, so it is compared with the set that it
// is thought to be, see [fieldpath.Set.MatchesAny], which costs a fraction of reading it.
//
// It is a table of fixed size. An entry has two places: one found by its manager, its time and the shape of its map, where the
// set of this very entry is if it was read lately, and one found without the time, where a set is that the manager writes of
// many objects, or again and again. It takes them from the sets that were there. Reading and writing a place are single atomic
// operations, so nobody waits for anybody.
//
// It holds cacheSize sets of at most cacheSet bytes: at the most about 70 MB, and mostly one or two.
var parsedMaps = mapCache{seed: maphash.MakeSeed()}

// cacheSet is how large a set in parsedMaps may be.
const cacheSet = 64 << 10

type mapCache struct {
	seed   maphash.Seed
	places [cacheSize]atomic.Pointer[fieldpath.Set]
}

// get is [fieldpath.FromAny] for the fieldsV1 of e, which is held as a map.
func (c *mapCache) get(e *Entry) (s fieldpath.Set, canonical bool, err error) {
	content := e.FieldsV1.content
	who := maphash.String(c.seed, e.Manager) + partLens(content)
	entry, repeated := c.place(who^uint64(unixSeconds(e.Time))), c.place(who)
	known := entry.Load()
	if known != nil && known.MatchesAny(content) {
		return *known, true, nil
	}
	if other := repeated.Load(); other != nil && other != known && other.MatchesAny(content) {
		entry.Store(other)
		return *other, true, nil
	}
	if s, canonical, err = fieldpath.FromAny(content); canonical && s.Size() <= cacheSet {
		kept := s
		entry.Store(&kept)
		repeated.Store(&kept)
	}
	return s, canonical, err
}

func (c *mapCache) place(hash uint64) *atomic.Pointer[fieldpath.Set] {
	const spread = 0x9e3779b97f4a7c15 // makes the highest bits depend on all
	return &c.places[hash*spread>>32%cacheSize]
}

// partLens is a number that tells most maps apart that differ in which parts of an object they are about, and in how many members
// those have.
func partLens(content map[string]any) uint64 {
	n := uint64(len(content))
	for _, name := range [...]string{"f:metadata", "f:spec", "f:status"} {
		part, _ := content[name].(map[string]any)
		n = n<<12 + uint64(len(part))
	}
	return n
}
