package managedfields

import (
	"hash/maphash"
	"sync"
	"sync/atomic"

	"github.com/deed-project/deed/fieldpath"
)

// Cache remembers the sets of the fieldsV1 that were read lately: controllers repeat the same few.
// It keeps to a budget of bytes, whatever it is fed. It is safe for concurrent use, and no reader
// waits for another.
//
// What it holds has a fixed number of places. Who finds an empty one, or one that it may take,
// takes it; when that makes more than the budget, a hand goes round and empties places until it
// fits:
//
//	texts  4,096  in rows of 4; a text has one row, found by its hash, and takes the place that was
//	              taken longest ago
//	maps   4,096  a map has two places, see readMap, and takes both
//	large     16  sets of maps that are larger than 64 KiB, in one row, which is searched
//
// Invariants:
//
//	used  =  sum of size over the sets that are in one place or more
//	used <=  budget, except while a set is being stored
type Cache struct {
	budget int64
	used   atomic.Int64
	hand   atomic.Uint32 // the place that is emptied next
	places [textPlaces + mapPlaces + largePlaces]place
	tags   [textPlaces]atomic.Uint32     // of each text, the low bits of its hash: most others need not be fetched from memory
	rows   [textPlaces / rowSize]textRow // of the texts
	newest atomic.Uint32                 // counts the large sets that were stored; the last one is in place newest%largePlaces
}

const (
	textPlaces  = 4096
	mapPlaces   = 4096
	largePlaces = 16
	rowSize     = 4

	maxText = 32 << 10 // bytes of a text that is remembered
	maxMap  = 64 << 10 // bytes of a set that has places among the maps

	// largestShare is which part of the budget one set may take.
	largestShare = 8
)

// DefaultBudget is how many bytes the cache of the process may hold, which everybody uses who has
// none of their own.
const DefaultBudget = 32 << 20

// processCache is the cache of who has none of their own.
var processCache = NewCache(DefaultBudget)

// noCache remembers nothing.
var noCache = NewCache(0)

// NewCache returns an empty cache that holds at most so many bytes, counting the sets and the texts
// that they are found by, and beside them about 110 KiB for its places. A cache of no bytes
// remembers nothing.
func NewCache(budget int) *Cache { return &Cache{budget: int64(budget)} }

// size returns how many bytes c holds.
func (c *Cache) size() int { return int(c.used.Load()) }

// place is where a set may be.
type place = atomic.Pointer[parsedSet]

// textRow is what the writers of a row of texts know of it; readers do not wait for them. The sizes stand here, because a
// text that is dropped has mostly left the processor's caches: nothing of it is read.
type textRow struct {
	sync.Mutex
	stored uint32         // how many texts were stored; the next one takes place stored%rowSize
	sizes  [rowSize]int32 // of the texts in the row, 0 for an empty place
}

// texts, maps and large return the places of each sort.
func (c *Cache) texts() []place { return c.places[:textPlaces] }
func (c *Cache) maps() []place  { return c.places[textPlaces : textPlaces+mapPlaces] }
func (c *Cache) large() []place { return c.places[textPlaces+mapPlaces:] }

// put puts p in a place of the maps or the large sets, and makes room for it if there is none.
func (c *Cache) put(at *place, p *parsedSet) {
	if p.places.Add(1) == 1 {
		c.used.Add(p.bytes)
	}
	c.dropped(at.Swap(p))
	c.makeRoom()
}

// putText puts p in the row of its hash, in the place that was taken longest ago, and makes room for it if there is none.
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

// makeRoom lets the hand empty places as long as there is more than the budget.
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

// dropText empties place i, which is one of the texts.
func (c *Cache) dropText(i uint32) {
	r := &c.rows[i/rowSize]
	r.Lock()
	size := r.sizes[i%rowSize]
	r.sizes[i%rowSize] = 0
	c.places[i].Store(nil)
	r.Unlock()
	c.used.Add(-int64(size))
}

// dropped says that p, if it is a set, is no longer in one of its places.
func (c *Cache) dropped(p *parsedSet) {
	if p != nil && p.places.Add(-1) == 0 {
		c.used.Add(-p.bytes)
	}
}

// admits reports whether a set, of which all else is known, is small enough to be remembered.
func (c *Cache) admits(p *parsedSet) bool {
	p.bytes = p.size()
	return p.bytes <= c.budget/largestShare
}

// hashSeed makes rows differ from process to process. No result depends on them.
var hashSeed = maphash.MakeSeed()

// readText is ParseCanonical of fieldpath with a memory, given the hash of text.
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

// findText returns the set that was read from text, which has this hash, and nil if c does not have it.
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

// knownText returns text in memory of the process's cache, and "" if the cache does not have it: many
// objects have the same fieldsV1.
func knownText(text string) string {
	if len(text) > maxText {
		return ""
	}
	if p := findText(processCache, text, maphash.String(hashSeed, text)); p != nil {
		return p.text
	}
	return ""
}

// parseText reads a text that is not remembered.
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

// readMap is FromAny of fieldpath with a memory, given who owns the fields since when. Maps may be
// modified, so what is remembered is compared with all of content, which costs a fraction of
// reading it.
//
// One place is found by owner, time and shape of the map: there is the set of this very entry, if
// it was read lately. The other is found without the time: there is the set that the owner has of
// many objects, or again and again. Such a set takes no places by the times of all of these. Large
// sets are found by the same, in any place of their row.
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

// findMap returns the set that content is read as, if the maps have it at one of its two places,
// and else nil.
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

// writeMap is ToAny of fieldpath with a memory, given who owns the fields: new objects of one
// controller have the same few sets. The set is in the place where readMap finds it without a time.
// Its content, the map, may be that of other objects, too.
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

// hashOf returns the hash by which the sets of an owner are found that have parts of these sizes.
func hashOf(owner string, sizes uint64) uint64 { return maphash.String(hashSeed, owner) + sizes }

// findLarge returns the set that content is read as, if the row of large ones has it, and else nil.
// Of those that an owner had at other times it tries the newest alone: comparing a large set with a
// map that it was not read from may take long.
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

// placeOf returns the place of a table that has this hash.
func placeOf(table []place, hash uint64) *place {
	const spread = 0x9e3779b97f4a7c15 // makes the bits that count depend on all
	return &table[hash*spread>>32%uint64(len(table))]
}

// partSizes returns a number that tells most maps apart that differ in which parts of an object
// they are about, and in how many members those have.
func partSizes(content map[string]any) uint64 {
	n := uint64(len(content))
	for _, name := range parts {
		part, _ := content["f:"+name].(map[string]any)
		n = n<<12 + uint64(len(part))
	}
	return n
}

// parts are the parts of an object that tell most maps apart.
var parts = [...]string{"metadata", "spec", "status"}

// partSizesOfSet is partSizes of the map that s is written as.
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
