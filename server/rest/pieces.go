package rest

import (
	"encoding/binary"
	"sync"

	"github.com/deed-project/deed/server/catalog"
)

// piecesBudget bounds the memory of what is remembered of pieces, and pieceCost is what a piece takes of it beside what was made of the
// piece and the revisions in its key.
const (
	piecesBudget = 16 << 20
	pieceCost    = 400
)

// pieces remembers what was made of the pieces that watches were told, as a compressed form of each, so that it is made once for all
// watches that are told the same. The zero pieces are none and ready. They are safe for concurrent use.
//
// Invariants: order has the keys of the map of, in the order in which they came; size is the sum of their costs, and at most piecesBudget.
type pieces struct {
	mu    sync.Mutex
	of    map[pieceKey][]byte
	order []pieceKey
	size  int
}

// pieceKey names a piece: what one feed is told of some revisions.
type pieceKey struct {
	feed      feedKey
	initial   bool   // it is of what is there when a watch begins
	revisions string // of its events, eight bytes each
}

// cost returns what a piece takes of the budget.
func (k pieceKey) cost(made []byte) int { return pieceCost + len(k.revisions) + len(made) }

func (p *pieces) get(key pieceKey) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.of[key]
}

// put remembers what was made of a piece. What came first is forgotten for it.
func (p *pieces) put(key pieceKey, made []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of[key] != nil {
		return
	}
	if p.of == nil {
		p.of = map[pieceKey][]byte{}
	}
	p.of[key] = made
	p.order = append(p.order, key)
	for p.size += key.cost(made); p.size > piecesBudget; {
		oldest := p.order[0]
		p.size -= oldest.cost(p.of[oldest])
		delete(p.of, oldest)
		p.order = p.order[1:]
	}
}

// drop forgets everything if some of it is about a resource.
func (p *pieces) drop(resource *catalog.Resource) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, key := range p.order {
		if key.feed.version.Resource == resource {
			p.of, p.order, p.size = nil, nil, 0
			return
		}
	}
}

// Made returns what make makes of the text. Of what other watches are told as well it is made once. Nobody may modify it.
func (t Told) Made(make func(text []byte) []byte) []byte {
	key, ok := t.key()
	if !ok {
		return make(t.Text)
	}
	made := t.of.backend.pieces.get(key)
	if made == nil {
		made = make(t.Text)
		t.of.backend.pieces.put(key, made)
	}
	return made
}

// key returns the name of the piece. It is not ok if nobody else is told the same, as far as can be seen: bookmarks and errors have no
// revision of their own.
func (t Told) key() (key pieceKey, ok bool) {
	if t.of == nil || t.of.feed.key.printer == "" || !t.of.feed.isShared() {
		return key, false
	}
	revisions := make([]byte, 0, 8*len(t.marks))
	for _, m := range t.marks {
		if m.revision == 0 {
			return key, false
		}
		revisions = binary.LittleEndian.AppendUint64(revisions, uint64(m.revision))
	}
	return pieceKey{t.of.feed.key, t.of.begins != nil, string(revisions)}, true
}
