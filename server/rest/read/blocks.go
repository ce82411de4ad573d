package read

import (
	"encoding/binary"
	"hash/maphash"

	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/wire"
)

// A list that is sent compressed is put together of blocks, each of which is compressed once for all lists that it is in:
//
//	objects   a b c d|e f g|h i j k l|m n ...
//	blocks    [part] [part] [ part  ]
//
// Where a block ends shows in the name of its last object, after about every 16th. So a write makes one block to be compressed anew, and
// objects that come or go move no border but their own. Lists that begin elsewhere, as pages do, soon have the same borders. Rows of Tables
// make another block when one of its ages is another.

const (
	// blockObjects is how many objects a block has about, and blockText how long their texts are at most, but for the last of them.
	blockObjects = 16
	blockText    = 256 << 10
	// blocksBudget bounds the memory of blocks that are remembered, so that a list, with its compressor, takes no more than 4 MiB.
	blocksBudget = 2 << 20
)

// blockKey names a block.
type blockKey struct {
	version *catalog.Version
	form    string // of the items
	first   bool   // no object stands before it
	says    string // of each object the revision, in eight bytes, and what of its item is fresh
}

func (k blockKey) isOf(resource *catalog.Resource) bool { return k.version.Resource == resource }

// item is an object of a list, of which something is known.
type item struct {
	record store.Record
	known  *fact
}

// block collects the objects of a block.
type block struct {
	items []item
	says  []byte // see blockKey
	fresh []span // of says
	text  int    // how long the texts are
}

var blockSeed = maphash.MakeSeed()

// hold keeps an object until the body is sure to be compressed, or settle is called.
func (t *texts) hold(record store.Record, known *fact) error {
	t.held = append(t.held, item{record, known})
	t.least += t.items.least(record, known)
	if t.body.Expect(t.least); !t.body.Zips() {
		return nil
	}
	for _, i := range t.held {
		if err := t.addToBlock(i.record, i.known); err != nil {
			return err
		}
	}
	t.held = nil
	return nil
}

// settle writes the block that was collected, or prints the objects that are held.
func (t *texts) settle() error {
	for _, i := range t.held {
		if err := t.print(i.record, i.known); err != nil {
			return err
		}
	}
	t.held = t.held[:0]
	return t.sendBlock()
}

// addToBlock adds an object to the block that is collected, and writes that if it ends with it.
func (t *texts) addToBlock(record store.Record, known *fact) (err error) {
	b := &t.block
	b.says = binary.LittleEndian.AppendUint64(b.says, uint64(record.Revision))
	from := len(b.says)
	if b.says, err = t.items.fresh(b.says, t, record, known); err != nil {
		return err
	}
	b.fresh = append(b.fresh, newSpan(from, len(b.says)))
	b.items = append(b.items, item{record, known})
	if b.text += len(record.Text); b.text < blockText && maphash.String(blockSeed, record.Key)%blockObjects != 0 {
		return nil
	}
	return t.sendBlock()
}

// sendBlock writes the block that was collected, if there is one, and what was collected as text before it.
func (t *texts) sendBlock() error {
	b := &t.block
	if len(b.items) == 0 {
		return nil
	}
	if err := t.send(); err != nil {
		return err
	}
	key := blockKey{t.Version, t.items.form(), !t.some, string(b.says)}
	part, ok := t.blocks.Get(key)
	if !ok {
		for i, item := range b.items {
			t.begin()
			t.text = append(t.text, b.fresh[i].in(b.says)...)
			t.text = t.items.fixed(t.text, item.record, item.known)
		}
		part = wire.Deflate(t.text)
		t.text = t.text[:0]
		t.blocks.Put(key, part, len(key.says)+part.Len(), blocksBudget)
	}
	t.some = true
	*b = block{items: b.items[:0], says: b.says[:0], fresh: b.fresh[:0]}
	return t.body.Add(part)
}
