package managedfields

import (
	"hash/maphash"
	"sync/atomic"
	"weak"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
)

// parsed remembers the sets of the fieldsV1 that were read lately, for the whole process: controllers repeat the same few. One table
// is for those that came as text, one for those that came as maps, and one for the large ones among these.
//
// They are tables of fixed size. A text has one row, found by its hash, and takes the place of the one that is there longest. A map
// has two places, see readMap, and takes them from those that were there. Large sets of maps share one row, which is searched.
// Reading and writing a place are single atomic operations, so nobody waits for anybody.
//
// The table of texts and that of maps hold rowCount*rowSize sets of at most maxTextCached and maxMapCached bytes: each at the
// most about 70 MB with what they were read from, and mostly one or two. The row of large sets holds largeCount of at most
// maxLargeCached bytes, so at the most 64 MB.
var parsed struct {
	texts [rowCount]cacheRow
	maps  [rowCount * rowSize]atomic.Pointer[parsedSet]
	large largeRow
}

const (
	rowCount       = 256
	rowSize        = 4
	largeCount     = 16
	maxTextCached  = 32 << 10 // bytes of text
	maxMapCached   = 64 << 10 // bytes of the set
	maxLargeCached = 4 << 20  // bytes of the set
)

// cacheRow is where the texts are that have the same hash, as far as it counts.
type cacheRow struct {
	places [rowSize]atomic.Pointer[parsedSet]
	oldest atomic.Uint32 // counts what was stored
}

// largeRow is where the large sets are that came as maps.
type largeRow struct {
	places [largeCount]atomic.Pointer[parsedSet]
	stored atomic.Uint32 // how many were; the last one is in place stored%largeCount
}

// parsedSet is a set with the fieldsV1 that it was read from.
type parsedSet struct {
	set       fieldpath.Set
	canonical bool
	text      string // of those that came as text
	timed     uint64 // of large ones that came as maps: the hashes by which readMap finds them
	hash      uint64
	fits      atomic.Pointer[fit] // the type that the set was last found to be adapted to, see typed.Reconcile
}

// fit is a type that a set is adapted to. It does not keep the type alive.
type fit struct{ weak.Pointer[schema.Type] }

// fitsTo reports whether the set is adapted to t already. nil t is an unknown type.
func (p *parsedSet) fitsTo(t *schema.Type) bool {
	if t == nil {
		return false
	}
	if known := p.fits.Load(); known != nil && known.Value() == t {
		return true
	}
	if _, changed, err := typed.Reconcile(p.set, t); changed || err != nil {
		return false
	}
	p.fits.Store(&fit{weak.Make(t)})
	return true
}

// hashSeed makes rows differ from process to process. No result depends on them.
var hashSeed = maphash.MakeSeed()

// readText is [fieldpath.ParseCanonical] with a memory, given the hash of text.
func readText[T string | []byte](text T, hash uint64) (*parsedSet, error) {
	row := &parsed.texts[hash%rowCount]
	for i := range row.places {
		if p := row.places[i].Load(); p != nil && p.text == string(text) {
			return p, nil
		}
	}
	s, canonical, err := fieldpath.ParseCanonical([]byte(text))
	p := &parsedSet{set: s, canonical: canonical}
	if err == nil && len(text) <= maxTextCached {
		p.text = string([]byte(text)) // a copy: text may be part of a large one
		row.places[row.oldest.Add(1)%rowSize].Store(p)
	}
	return p, err
}

// readMap is [fieldpath.FromAny] with a memory, given who owns the fields since when. Maps may be modified, so what is remembered is
// compared with all of content, which costs a fraction of reading it.
//
// One place is found by owner, time and shape of the map: there is the set of this very entry, if it was read lately. The other is
// found without the time: there is the set that the owner has of many objects, or again and again. Large sets are found by the
// same, in any place of their row.
func readMap(content map[string]any, owner string, seconds int64) (*parsedSet, error) {
	hash := maphash.String(hashSeed, owner) + partSizes(content)
	timed := hash ^ uint64(seconds)
	if known := lookUp(parsed.maps[:], timed, hash, content); known != nil {
		return known, nil
	}
	if known := parsed.large.lookUp(timed, hash, content); known != nil {
		return known, nil
	}
	s, canonical, err := fieldpath.FromAny(content)
	p := &parsedSet{set: s, canonical: canonical, timed: timed, hash: hash}
	if !canonical {
		return p, err
	}
	switch size := s.Size(); {
	case size <= maxMapCached:
		placeOf(parsed.maps[:], timed).Store(p)
		placeOf(parsed.maps[:], hash).Store(p)
	case size <= maxLargeCached:
		parsed.large.store(p)
	}
	return p, nil
}

// lookUp returns the set that content is read as, if table has it at one of its two places, and else nil.
func lookUp(table []atomic.Pointer[parsedSet], timed, hash uint64, content map[string]any) *parsedSet {
	own := placeOf(table, timed)
	known := own.Load()
	if known != nil && known.set.MatchesAny(content) {
		return known
	}
	if other := placeOf(table, hash).Load(); other != nil && other != known && other.set.MatchesAny(content) {
		own.Store(other)
		return other
	}
	return nil
}

// lookUp returns the set that content is read as, if row has it, and else nil. Of those that an owner had at other times it tries
// the newest alone: comparing a large set with a map that it was not read from may take long.
func (row *largeRow) lookUp(timed, hash uint64, content map[string]any) *parsedSet {
	var newest *parsedSet
	stored := row.stored.Load()
	for i := range uint32(largeCount) {
		p := row.places[(stored-i)%largeCount].Load()
		switch {
		case p == nil:
		case p.timed == timed:
			if p.set.MatchesAny(content) {
				return p
			}
		case p.hash == hash && newest == nil:
			newest = p
		}
	}
	if newest != nil && newest.set.MatchesAny(content) {
		return newest
	}
	return nil
}

func (row *largeRow) store(p *parsedSet) {
	row.places[row.stored.Add(1)%largeCount].Store(p)
}

func placeOf(table []atomic.Pointer[parsedSet], hash uint64) *atomic.Pointer[parsedSet] {
	const spread = 0x9e3779b97f4a7c15 // makes the bits that count depend on all
	return &table[hash*spread>>32%uint64(len(table))]
}

// partSizes returns a number that tells most maps apart that differ in which parts of an object they are about, and in how many
// members those have.
func partSizes(content map[string]any) uint64 {
	n := uint64(len(content))
	for _, name := range [...]string{"f:metadata", "f:spec", "f:status"} {
		part, _ := content[name].(map[string]any)
		n = n<<12 + uint64(len(part))
	}
	return n
}
