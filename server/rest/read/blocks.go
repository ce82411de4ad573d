package read

import (
	"hash/maphash"

	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/store"
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
