package managedfields

import (
	"hash/maphash"
	"sync"
	"sync/atomic"

	"github.com/deed-project/deed/fieldpath"
)

// Cache stores sets of fieldsV1 that were read recently, because controllers repeat the same few
// sets. It keeps to a budget of bytes for every input. It is safe for concurrent use, and readers
// never wait for each other.
//
// The cache has a fixed number of places. A new set replaces the sets in its places. If the cache
// then exceeds its budget, a hand goes round and empties places until the cache fits:
//
//	texts  4,096  in rows of 4; the hash of a text selects one row, and the text takes the oldest
//	              place of the row
//	maps   4,096  a map that is read takes two places, see readMap
//	large     16  sets of maps that are larger than 64 KiB, in one row, which is searched
//
// Invariants:
//
//	used  =  sum of size over the sets that are in one place or more
//	used <=  budget, except while a set is being stored
type Cache struct {
	budget int64
	used   atomic.Int64
	hand   atomic.Uint32 // the place that the hand emptied last
	places [textPlaces + mapPlaces + largePlaces]place
	tags   [textPlaces]atomic.Uint32     // of each text, the low bits of its hash: a lookup skips other texts without a fetch from memory
	rows   [textPlaces / rowSize]textRow // of the texts
	newest atomic.Uint32                 // counts the stored large sets; the last one is in place newest%largePlaces
}

const (
	textPlaces  = 4096
	mapPlaces   = 4096
	largePlaces = 16
	rowSize     = 4

	maxText = 32 << 10 // the most bytes of a text in the cache
	maxMap  = 64 << 10 // the most bytes of a set in the places of maps

	// largestShare bounds the size of one set: budget/largestShare.
	largestShare = 8
)

// DefaultBudget is the budget in bytes of the cache of the process. Field managers and functions
// without a cache of their own use that cache.
const DefaultBudget = 32 << 20

// processCache is the cache of the process.
var processCache = NewCache(DefaultBudget)

// noCache is the cache that stores nothing.
var noCache = NewCache(0)

// NewCache returns an empty cache that holds at most budget bytes. The budget counts the sets and
// the texts that are their keys. The places of the cache take about 110 KiB more. A cache with a
// budget of 0 stores nothing.
func NewCache(budget int) *Cache { return &Cache{budget: int64(budget)} }

// size returns the number of bytes that c holds.
func (c *Cache) size() int { return int(c.used.Load()) }

// place may hold a set.
type place = atomic.Pointer[parsedSet]

// textRow is the state of a row of texts for its writers; readers do not wait for them. It has the
// sizes, so that a writer does not read the text that it drops, which has mostly left the
// processor's caches.
type textRow struct {
	sync.Mutex
	stored uint32         // the number of texts stored so far; the next one takes place stored%rowSize
	sizes  [rowSize]int32 // of the texts in the row, 0 for an empty place
}

// texts, maps and large return the places of each kind.
func (c *Cache) texts() []place { return c.places[:textPlaces] }
func (c *Cache) maps() []place  { return c.places[textPlaces : textPlaces+mapPlaces] }
func (c *Cache) large() []place { return c.places[textPlaces+mapPlaces:] }

// put stores p in a place of the maps or of the large sets. It then makes room if the budget is
// exceeded.
func (c *Cache) put(at *place, p *parsedSet) {
	if p.places.Add(1) == 1 {
		c.used.Add(p.bytes)
	}
	c.dropped(at.Swap(p))
	c.makeRoom()
}

// putText stores p in the oldest place of the row of its hash. It then makes room if the budget is
// exceeded.
func (c *Cache) putText(p *parsedSet) {
	row := p.hash % uint64(len(c.rows))
	r := &c.rows[row]
	r.Lock()
	i := uint64(r.stored % rowSize)
	r.stored++
	more := int32(p.bytes) - r.sizes[i]
	r.sizes[i] = int32(p.bytes)
	c.tags[row*rowSize+i].Store(uint32(p.hash))
	c.places[row*rowSize+i].Store(p)
	r.Unlock()
	c.used.Add(int64(more))
	c.makeRoom()
}

// makeRoom empties places in turn until the cache fits its budget.
func (c *Cache) makeRoom() {
	for range c.places {
		if c.used.Load() <= c.budget {
			return
		}
		if i := c.hand.Add(1) % uint32(len(c.places)); i < textPlaces {
			c.dropText(i)
		} else {
			c.dropped(c.places[i].Swap(nil))
		}
	}
}

// dropText empties place i, a place of the texts.
func (c *Cache) dropText(i uint32) {
	r := &c.rows[i/rowSize]
	r.Lock()
	size := r.sizes[i%rowSize]
	r.sizes[i%rowSize] = 0
	c.places[i].Store(nil)
	r.Unlock()
	c.used.Add(-int64(size))
}

// dropped records that p left one of its places. p may be nil.
func (c *Cache) dropped(p *parsedSet) {
	if p != nil && p.places.Add(-1) == 0 {
		c.used.Add(-p.bytes)
	}
}

// admits reports whether a set is small enough for the cache. All fields of p except its size must
// be set.
func (c *Cache) admits(p *parsedSet) bool {
	p.bytes = p.size()
	return p.bytes <= c.budget/largestShare
}

// hashSeed makes rows differ from process to process. No result depends on it.
var hashSeed = maphash.MakeSeed()

// readText is ParseCanonical of fieldpath with a cache. hash is the hash of text.
func readText[T string | []byte](c *Cache, text T, hash uint64) (*parsedSet, error) {
	if len(text) > maxText {
		return parseText(text)
	}
	if p := findText(c, text, hash); p != nil {
		return p, nil
	}
	p, err := parseText(text)
	p.hash = hash
	if err == nil && c.admits(p) {
		c.putText(p)
	}
	return p, err
}

// findText returns the set that was read from text, and nil if c lacks it. hash is the hash of
// text.
func findText[T string | []byte](c *Cache, text T, hash uint64) *parsedSet {
	first := hash % uint64(len(c.rows)) * rowSize
	tags, row := c.tags[first:][:rowSize], c.texts()[first:][:rowSize]
	for i := range row {
		if tags[i].Load() != uint32(hash) {
			continue
		}
		if p := row[i].Load(); p != nil && p.hash == hash && p.text == string(text) {
			return p
		}
	}
	return nil
}

// knownText returns a copy of text that the process's cache holds, and "" if the cache lacks it.
// Many objects have the same fieldsV1, and can so share its memory.
func knownText(text string) string {
	if len(text) > maxText {
		return ""
	}
	if p := findText(processCache, text, maphash.String(hashSeed, text)); p != nil {
		return p.text
	}
	return ""
}

// parseText reads text without a cache.
func parseText[T string | []byte](text T) (*parsedSet, error) {
	p := new(parsedSet)
	var err error
	switch text := any(text).(type) {
	case string:
		p.set, p.text, p.canonical, err = paths.ParseCanonicalString(text)
	case []byte:
		p.set, p.text, p.canonical, err = paths.ParseCanonical(text)
	}
	return p, err
}

// readMap is FromAny of fieldpath with a cache. owner is the manager of the fields, and seconds is
// the time of the entry. Callers may modify maps, so readMap compares the cached set with all of
// content. The comparison costs a fraction of reading the map.
//
// The first place has the key owner, time and shape of the map. It finds the set of the same entry,
// if it was read recently. The second place has the same key without the time. It finds a set that
// the owner has in many objects, or writes repeatedly. Large sets have the same keys, and may be in
// any place of their row.
func readMap(c *Cache, content map[string]any, owner string, seconds int64) (*parsedSet, error) {
	hash := hashOf(owner, partSizes(content))
	timed := hash ^ uint64(seconds)
	if known := c.findMap(timed, hash, content); known != nil {
		return known, nil
	}
	if known := c.findLarge(timed, hash, content); known != nil {
		return known, nil
	}
	s, canonical, err := paths.FromAny(content)
	p := &parsedSet{set: s, canonical: canonical, timed: timed, hash: hash}
	switch {
	case !canonical || !c.admits(p):
	case paths.Size(s) <= maxMap:
		c.put(placeOf(c.maps(), timed), p)
		c.put(placeOf(c.maps(), hash), p)
	default:
		c.put(&c.large()[c.newest.Add(1)%largePlaces], p)
	}
	return p, err
}

// findMap returns the set that content is read as, and nil if neither of its two places has it.
func (c *Cache) findMap(timed, hash uint64, content map[string]any) *parsedSet {
	known := placeOf(c.maps(), timed).Load()
	if known != nil && paths.MatchesAny(known.set, content) {
		return known
	}
	if other := placeOf(c.maps(), hash).Load(); other != nil && other != known && paths.MatchesAny(other.set, content) {
		return other
	}
	return nil
}

// writeMap is ToAny of fieldpath with a cache, because new objects of one controller have the same
// few sets. owner is the manager of the fields. The set has the place in which readMap finds it
// without a time. Other objects may share its content, the map.
func writeMap(c *Cache, s fieldpath.Set, owner string) *parsedSet {
	hash := hashOf(owner, partSizesOfSet(s))
	at := placeOf(c.maps(), hash)
	known := at.Load()
	switch {
	case known == nil || !known.set.Equal(s):
		known = &parsedSet{set: s, canonical: true, hash: hash}
	case known.content != nil:
		return known
	}
	p := &parsedSet{set: known.set, canonical: true, timed: known.timed, hash: hash}
	p.fits.Store(known.fits.Load())
	p.content, p.contentSize = paths.ToAnySize(s)
	if paths.Size(s) <= maxMap && c.admits(p) {
		c.put(at, p)
	}
	return p
}

// hashOf returns the key for the sets of an owner whose parts have these sizes.
func hashOf(owner string, sizes uint64) uint64 { return maphash.String(hashSeed, owner) + sizes }

// findLarge returns the set that content is read as, and nil if the row of large sets lacks it. Of
// the owner's sets with other times, it tries only the newest one. To compare a large set with the
// map of another set may take long.
func (c *Cache) findLarge(timed, hash uint64, content map[string]any) *parsedSet {
	var newest *parsedSet
	row, stored := c.large(), c.newest.Load()
	for i := range uint32(largePlaces) {
		p := row[(stored-i)%largePlaces].Load()
		switch {
		case p == nil:
		case p.timed == timed:
			if paths.MatchesAny(p.set, content) {
				return p
			}
		case p.hash == hash && newest == nil:
			newest = p
		}
	}
	if newest != nil && paths.MatchesAny(newest.set, content) {
		return newest
	}
	return nil
}

// placeOf returns the place of a hash in a table.
func placeOf(table []place, hash uint64) *place {
	const spread = 0x9e3779b97f4a7c15 // makes the used bits depend on all bits
	return &table[hash*spread>>32%uint64(len(table))]
}

// partSizes returns a number that distinguishes most maps: the number of members of the object and
// of its parts.
func partSizes(content map[string]any) uint64 {
	n := uint64(len(content))
	for _, name := range parts {
		part, _ := content["f:"+name].(map[string]any)
		n = n<<12 + uint64(len(part))
	}
	return n
}

// parts are the parts of an object whose sizes distinguish most maps.
var parts = [...]string{"metadata", "spec", "status"}

// partSizesOfSet is partSizes of the map in which s is written.
func partSizesOfSet(s fieldpath.Set) uint64 {
	n := uint64(paths.Width(s))
	for _, name := range parts {
		member, below := s.Get(fieldpath.Field(name))
		size := paths.Width(below)
		if member && size > 0 {
			size++ // for the member named "."
		}
		n = n<<12 + uint64(size)
	}
	return n
}
