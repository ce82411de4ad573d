package watch

import (
	"github.com/deed-project/deed/server/cache"
	"github.com/deed-project/deed/server/catalog"
)

// Compressed texts. Watches of one feed that begin at the same time send the same list, in the same pieces:
//
//	watch 1   [initial events 1-200] [201-371]      compressed once
//	watch 2   [initial events 1-200] [201-371]      found by their revisions

// piecesBudget bounds the memory of cached pieces.
const piecesBudget = 16 << 20

// pieces is a cache of compressed texts, so that a text is compressed once for all watches that send it. The zero value is an empty cache. It is
// safe for concurrent use.
type pieces struct {
	of cache.Cache[pieceKey, []byte]
}

// pieceKey names the text of some revisions in one feed.
//
// Initial events differ from events of the same revisions: they have the type ADDED throughout.
type pieceKey struct {
	feed      feedKey
	initial   bool   // the events are initial events of a watch
	revisions string // of its events, eight bytes each
}

// made returns what make makes of a text that a key names. The result is shared and must not be modified.
//
// Watches that ask at the same time may make a piece several times, with the same outcome.
func (p *pieces) made(key pieceKey, text []byte, make func(text []byte) []byte) []byte {
	made, ok := p.of.Get(key)
	if !ok {
		made = make(text)
		p.of.Put(key, made, len(key.revisions)+len(made), piecesBudget)
	}
	return made
}

// forget drops the pieces of a resource.
func (p *pieces) forget(resource *catalog.Resource) {
	p.of.RemoveIf(func(k pieceKey) bool { return k.feed.version.Resource == resource })
}
