package watch

import (
	"encoding/binary"

	"github.com/deed-project/deed/server/catalog"
)

// piecesBudget bounds the memory of cached pieces.
const piecesBudget = 16 << 20

// pieceKey names the text of some revisions in one feed. The compressed form of a text is cached by it, so that it is made once for all
// watches that send the same.
type pieceKey struct {
	feed      feedKey
	initial   bool   // the events are those of objects that existed when a watch began
	revisions string // of its events, eight bytes each
}

func (k pieceKey) isOf(resource *catalog.Resource) bool { return k.feed.version.Resource == resource }

// Made returns what make makes of the text, once for all watches that send the same. The result is shared and must not be modified.
func (t Chunk) Made(make func(text []byte) []byte) []byte {
	key, ok := t.key()
	if !ok {
		return make(t.Text)
	}
	pieces := &t.of.hub.pieces
	made, ok := pieces.Get(key)
	if !ok {
		made = make(t.Text)
		pieces.Put(key, made, len(key.revisions)+len(made), piecesBudget)
	}
	return made
}

// key returns the name of the piece. It is not ok if no other watch seems to send the same: bookmarks and errors have no revision of their
// own.
func (t Chunk) key() (key pieceKey, ok bool) {
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
	return pieceKey{t.of.feed.key, t.of.initial != nil, string(revisions)}, true
}
