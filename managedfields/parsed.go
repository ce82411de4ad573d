package managedfields

import (
	"hash/maphash"
	"sync/atomic"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
)

// parsed remembers the sets of the fieldsV1 that were read lately, for the whole process: controllers repeat the same few. One table
// is for those that came as text, and one for those that came as maps.
//
// They are tables of fixed size. A fieldsV1 has one row, found by its hash, and takes the place of the one that is there longest.
// Reading and writing a place are single atomic operations, so nobody waits for anybody.
//
// Each holds rowCount*rowSize sets of at most maxRemembered bytes or nodes: at the most about 70 MB with their sets, and mostly one
// or two.
var parsed struct{ texts, maps setCache }

const (
	rowCount      = 256
	rowSize       = 4
	maxTextCached = 32 << 10 // bytes of text
	maxMapCached  = 1 << 10  // members of all maps
)

type setCache [rowCount]cacheRow

type cacheRow struct {
	places [rowSize]atomic.Pointer[parsedSet]
	oldest atomic.Uint32 // counts what was stored

	seen [rowSize]atomic.Uint64 // hashes of what was looked for and not found
	last atomic.Uint32          // counts them
}

// parsedSet is a set with the fieldsV1 that it was read from.
type parsedSet struct {
	set       fieldpath.Set
	canonical bool
	text      string                      // of those that came as text
	outline   outline                     // of those that came as maps
	fits      atomic.Pointer[schema.Type] // the type that the set was last found to be adapted to, see typed.Reconcile
}

// fitsTo reports whether the set is adapted to t already. nil t is an unknown type.
func (p *parsedSet) fitsTo(t *schema.Type) bool {
	if t == nil || p.fits.Load() == t {
		return t != nil
	}
	if _, changed, err := typed.Reconcile(p.set, t); changed || err != nil {
		return false
	}
	p.fits.Store(t)
	return true
}

// find returns what the row has that matches, or else nil.
func (r *cacheRow) find(matches func(*parsedSet) bool) *parsedSet {
	for i := range r.places {
		if p := r.places[i].Load(); p != nil && matches(p) {
			return p
		}
	}
	return nil
}

func (r *cacheRow) store(p *parsedSet) { r.places[r.oldest.Add(1)%rowSize].Store(p) }

// again reports whether something with this hash was looked for lately. What comes only once need not be remembered.
func (r *cacheRow) again(hash uint64) bool {
	for i := range r.seen {
		if r.seen[i].Load() == hash {
			return true
		}
	}
	r.seen[r.last.Add(1)%rowSize].Store(hash)
	return false
}

// hashSeed makes rows differ from process to process. No result depends on them.
var hashSeed = maphash.MakeSeed()

// readText is [fieldpath.ParseCanonical] with a memory, given the hash of text.
func readText[T string | []byte](text T, hash uint64) (*parsedSet, error) {
	row := &parsed.texts[hash%rowCount]
	if len(text) <= maxTextCached {
		if p := row.find(func(p *parsedSet) bool { return p.text == string(text) }); p != nil {
			return p, nil
		}
	}
	s, canonical, err := fieldpath.ParseCanonical([]byte(text))
	p := &parsedSet{set: s, canonical: canonical}
	if err == nil && len(text) <= maxTextCached {
		p.text = string([]byte(text)) // a copy: text may be part of a large one
		row.store(p)
	}
	return p, err
}

// readMap is [fieldpath.FromAny] with a memory. Maps may be modified, so what is remembered is compared with all of content.
func readMap(content map[string]any) (*parsedSet, error) {
	hash := fingerprint(content)
	row := &parsed.maps[hash%rowCount]
	if p := row.find(func(p *parsedSet) bool { return p.outline.is(content) }); p != nil {
		return p, nil
	}
	s, canonical, err := fieldpath.FromAny(content)
	p := &parsedSet{set: s, canonical: canonical}
	if err == nil && canonical && row.again(hash) {
		if p.outline = outlineOf(content, s.Len()); p.outline != nil {
			row.store(p)
		}
	}
	return p, err
}

// fingerprint returns a hash of the first names in content: those down to the first map that has several, and its own.
func fingerprint(content map[string]any) (h uint64) {
	for depth := 0; len(content) > 0 && depth < 8; depth++ {
		several := len(content) > 1
		var below map[string]any
		for name, member := range content {
			below, _ = member.(map[string]any)
			h += maphash.String(hashSeed, name) * uint64(2*len(below)+2*depth+1) // the order of names counts for nothing
		}
		if several {
			break
		}
		content = below
	}
	return h
}

// outline is a tree of maps in preorder: each member's name, and how many members its own map has. The first node is the root,
// which has no name.
type outline []outlineNode

type outlineNode struct {
	name    string
	members int
}

// outlineOf returns the outline of content, which holds nothing but maps and stands for so many fields, and nil if it is too large to
// be remembered.
func outlineOf(content map[string]any, fields int) outline {
	return make(outline, 0, min(fields+fields/2, maxMapCached)+1).with("", content)
}

func (o outline) with(name string, content map[string]any) outline {
	if len(o) > maxMapCached {
		return nil
	}
	o = append(o, outlineNode{name, len(content)})
	for name, member := range content {
		below, _ := member.(map[string]any)
		if o = o.with(name, below); o == nil {
			break
		}
	}
	return o
}

// is reports whether content has the outline o: it looks each name up, which is quicker than to sort them.
func (o outline) is(content map[string]any) bool {
	_, ok := o.match(content)
	return ok
}

// match compares content with the first tree of o, and returns the rest.
func (o outline) match(content map[string]any) (rest outline, ok bool) {
	if len(o) == 0 || len(content) != o[0].members {
		return nil, false
	}
	n := o[0].members
	for o = o[1:]; n > 0; n-- {
		below, isMap := content[o[0].name].(map[string]any)
		if !isMap {
			return nil, false
		}
		if o[0].members == 0 && len(below) == 0 {
			o = o[1:]
		} else if o, ok = o.match(below); !ok {
			return nil, false
		}
	}
	return o, true
}
