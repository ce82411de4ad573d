package managedfields

import (
	"sync/atomic"
	"weak"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
)

// What is known of a set that was read: whether it was written canonically, by what a cache finds
// it, and the type that it fits to. As long as a cache remembers the set, all of that is found out
// once, however many objects have it.

// parsedSet is a set that was read from a fieldsV1, with what else is known of it. It does not
// change but for what is atomic.
//
// What a cache asks of a set that has left the processor's caches stands in front, in one line of
// these: a set that is stored takes the place of another one, which is dropped.
type parsedSet struct {
	hash      uint64       // of its text, or that by which readMap finds it
	text      string       // of those that came as text: what it was read from, a part of the text of set
	bytes     int64        // size, once a cache has admitted the set
	places    atomic.Int32 // of those that came as maps: how many places of a cache they have
	canonical bool         // what it was read from is written as kube-apiserver writes it
	set       fieldpath.Set
	timed     uint64              // of those that came as maps: another hash by which readMap finds them
	fits      atomic.Pointer[fit] // the type that the set was last found to be adapted to, see Reconcile of typed

	content     map[string]any // what the set was written as by writeMap, or nil
	contentSize int            // of content, in bytes
}

// reading returns p as the outcome of a read that is remembered.
func (p *parsedSet) reading() reading { return reading{p.set, p.canonical, p} }

// reading is what was read of a fieldsV1.
type reading struct {
	set       fieldpath.Set
	canonical bool       // see parsedSet
	known     *parsedSet // nil if nothing is remembered of the set
}

// fitsTo reports whether the set is adapted to t already. nil t is an unknown type.
func (r *reading) fitsTo(t *schema.Type) bool {
	if r.known != nil {
		return r.known.fitsTo(t)
	}
	return isAdapted(r.set, t)
}

// isAdapted reports whether s is adapted to t already. nil t is an unknown type.
func isAdapted(s fieldpath.Set, t *schema.Type) bool {
	if t == nil {
		return false
	}
	_, changed, err := typed.Reconcile(s, t)
	return !changed && err == nil
}

// size returns how many bytes p keeps alive at most. Go allocates up to an eighth more than is
// asked for, and with the text of a set that was read there may be room that it did not need.
func (p *parsedSet) size() int64 {
	const fixed = 256 // of p, with a fit
	n := int64(paths.Size(p.set) + len(p.text)/4 + p.contentSize)
	if p.set.IsEmpty() { // it has no text that p.text would be a part of
		n += int64(len(p.text))
	}
	return n + n/8 + fixed
}

// fit is a type that a set is adapted to. It does not keep the type alive.
type fit struct{ weak.Pointer[schema.Type] }

// fitsTo is fitsTo of the reading, and remembers the type.
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
