package managedfields

import (
	"sync/atomic"
	"weak"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
)

// The properties of a set that was read: its canonical form, its cache keys, and the type to which
// it is adapted. While a cache holds the set, each property is computed once, however many objects
// have the set.

// parsedSet is a set that was read from a fieldsV1, with its properties. Only its atomic fields
// change.
//
// The first fields share one cache line of the processor. The cache reads only these fields of a
// set that it drops, which has mostly left the processor's caches.
type parsedSet struct {
	hash      uint64       // of its text, or the key by which readMap finds it
	text      string       // of sets read from text: a copy of it, which the set shares
	bytes     int64        // the result of size when a cache admitted the set
	places    atomic.Int32 // of sets read from maps: the number of their places in a cache
	canonical bool         // the form that was read is the one that kube-apiserver writes
	set       fieldpath.Set
	timed     uint64              // of sets read from maps: another key by which readMap finds them
	fits      atomic.Pointer[fit] // the type to which the set was last found to be adapted, see typed.Reconcile

	content     map[string]any // the map that writeMap made of the set, or nil
	contentSize int            // of content, in bytes
}

// reading returns p as the outcome of a read that is cached.
func (p *parsedSet) reading() reading { return reading{p.set, p.canonical, p} }

// reading is the outcome of reading a fieldsV1.
type reading struct {
	set       fieldpath.Set
	canonical bool       // see parsedSet
	known     *parsedSet // nil if no cache holds the set
}

// fitsTo reports whether the set is adapted to t already. A nil t is an unknown type.
func (r *reading) fitsTo(t *schema.Type) bool {
	if r.known != nil {
		return r.known.fitsTo(t)
	}
	return isAdapted(r.set, t)
}

// isAdapted reports whether s is adapted to t already. A nil t is an unknown type.
func isAdapted(s fieldpath.Set, t *schema.Type) bool {
	if t == nil {
		return false
	}
	_, changed, err := typed.Reconcile(s, t)
	return !changed && err == nil
}

// size returns the number of bytes that p keeps alive at most. Go allocates up to an eighth more
// than is asked for. The buffer for the text of a set may have unused room.
func (p *parsedSet) size() int64 {
	const fixed = 256 // of p, with a fit
	n := int64(paths.Size(p.set) + len(p.text)/4 + p.contentSize)
	if p.set.IsEmpty() { // it has no text that contains p.text
		n += int64(len(p.text))
	}
	return n + n/8 + fixed
}

// fit is a type to which a set is adapted. It does not keep the type alive.
type fit struct{ weak.Pointer[schema.Type] }

// fitsTo is reading.fitsTo, and stores the type for the next call.
func (p *parsedSet) fitsTo(t *schema.Type) bool {
	if known := p.fits.Load(); known != nil && t != nil && known.Value() == t {
		return true
	}
	if !isAdapted(p.set, t) {
		return false
	}
	p.fits.Store(&fit{weak.Make(t)})
	return true
}
