package managedfields

import (
	"hash/maphash"
	"sync/atomic"

	"github.com/deed-project/deed/fieldpath"
)

// parsed remembers the sets of fieldsV1 texts that were read lately, for the whole process: controllers repeat the same few.
//
// It is a table of fixed size. A text has one place, found by its hash, and takes it from the text that was there. Reading
// and writing a place are single atomic operations, so nobody waits for anybody.
//
// It holds cacheSize texts of at most cacheText bytes: at the most about 70 MB with their sets, and mostly one or two.
var parsed = setCache{seed: maphash.MakeSeed()}

const (
	cacheSize = 1024
	cacheText = 32 << 10
)

type setCache struct {
	seed   maphash.Seed
	places [cacheSize]atomic.Pointer[parsedSet]
}

type parsedSet struct {
	text      string
	set       fieldpath.Set
	canonical bool
}

// get is [fieldpath.ParseCanonical].
func (c *setCache) get(text string) (s fieldpath.Set, canonical bool, err error) {
	if len(text) > cacheText {
		return fieldpath.ParseCanonical([]byte(text))
	}
	place := &c.places[maphash.String(c.seed, text)%cacheSize]
	if p := place.Load(); p != nil && p.text == text {
		return p.set, p.canonical, nil
	}
	s, canonical, err = fieldpath.ParseCanonical([]byte(text))
	if err == nil {
		place.Store(&parsedSet{text: string([]byte(text)), set: s, canonical: canonical})
	}
	return s, canonical, err
}
