package read

import (
	"hash/maphash"

	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/store"
)

// The body of a compressed list consists of blocks. Each block is compressed once for all lists that contain it:
//
//	objects   a b c d|e f g|h i j k l|m n ...
//	blocks    [part] [part] [ part  ]
//
// A hash of an object's name decides whether a block ends with it: about every 16th does. So a write changes one block, and a new or
// deleted object moves no border but its own. Lists with another begin, such as pages, soon have the same borders. Rows of Tables make a
// new block when one of their ages changes.

const (
	// blockObjects is the average number of objects in a block. blockText bounds their texts, apart from the last one.
	blockObjects = 16
	blockText    = 256 << 10
	// blocksBudget bounds the memory of cached blocks. A list with its compressor should take at most 4 MiB.
	blocksBudget = 2 << 20
)

// blockKey identifies the content of a block.
type blockKey struct {
	version *catalog.Version
	form    string // of the items; see items.form
	// first matters because a block begins with a comma unless it is the first one.
	first bool // no object precedes it
	// says is all that the text of the block depends on, beside version and form: a revision identifies the text of an object.
	says string // for each object its revision, in eight bytes, and the fresh part of its item
}

func (k blockKey) isOf(resource *catalog.Resource) bool { return k.version.Resource == resource }

// item is an object of a list with a known fact.
//
// It lasts as long as the block or the decision that it waits for. The record shares its text with the store.
type item struct {
	record store.Record
	known  *fact
}

// block collects the objects of a block.
type block struct {
	items []item
	says  []byte // see blockKey.says
	fresh []span // parts of says
	text  int    // length of the texts
}

// isBorder reports whether blocks end with the object that has a key.
func isBorder(key string) bool { return maphash.String(blockSeed, key)%blockObjects == 0 }

var blockSeed = maphash.MakeSeed()
