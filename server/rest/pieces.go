package rest

import (
	"encoding/binary"

	"github.com/deed-project/deed/server/catalog"
)

// piecesBudget bounds the memory of pieces that are remembered.
const piecesBudget = 16 << 20

// pieceKey names a piece of what watches are told: what one feed is told of some revisions. What was made of a piece, as its compressed
// form, is remembered by that, so that it is made once for all watches that are told the same.
type pieceKey struct {
	feed      feedKey
	initial   bool   // it is of what is there when a watch begins
	revisions string // of its events, eight bytes each
}

func (k pieceKey) isOf(resource *catalog.Resource) bool { return k.feed.version.Resource == resource }

// Made returns what make makes of the text. Of what other watches are told as well it is made once. Nobody may modify it.
func (t Told) Made(make func(text []byte) []byte) []byte {
	key, ok := t.key()
	if !ok {
		return make(t.Text)
	}
	pieces := &t.of.backend.pieces
	made, ok := pieces.get(key)
	if !ok {
		made = make(t.Text)
		pieces.put(key, made, len(key.revisions)+len(made), piecesBudget)
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
