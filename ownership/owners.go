package ownership

import (
	"errors"
	"iter"
	"time"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// The parts of an object, in the order of the document, with their owners. The walk that finds them
// is in owners_walk.go.

// Owner is a manager that owns a part of an object.
type Owner struct {
	Index      int // of its entry in [managedfields.Object.Entries]
	Manager    merge.Manager
	APIVersion string    // of its entry
	Time       time.Time // of its entry
}

// The kinds of parts, see [Owned].
const (
	leafPart   = "leaf"
	itemPart   = "item"
	atomicPart = "atomic"
)

// Owned is one part of an object with all its owners.
type Owned struct {
	Path  fieldpath.Path
	Value value.Value
	// Part is the kind of the part:
	//
	//	leaf    a scalar, null, or an empty list or object
	//	item    an item of a set or keyed list; its content follows
	//	atomic  a list or object that is owned as a whole, and not empty; its content follows
	Part string
	// Owners are sorted as the object's entries are. They are empty if the part has no owner. The
	// slice is shared: it must not be modified.
	Owners []Owner
	// Through is the path from which the part has its owners. It leads to the atomic list or object
	// around the part, or to the item around the part that the list holds more than once. It is nil
	// if Owners own the part itself.
	Through fieldpath.Path
}

// Owners yields the parts of o, a value of type t, with their owners. It yields each leaf and each
// item once, in the order of the document: members by name, items in list order. An item or atomic
// part comes before its content.
//
//  1. A part has all its co-owners. Some parts have no owner: identity and bookkeeping such as
//     metadata.name, defaults, values that the server filled in, and empty lists that are not
//     atomic.
//  2. Atomic lists and objects are owned as a whole. Their content has their owners, and Through is
//     their path. The same holds for the content of items that the list holds more than once.
//  3. Sets are adapted to t first, by rules R1 to R3. versions serves to read sets of another
//     version than o's. With nil versions they cannot be read.
//  4. o need not conform to t. A member that t does not declare, and its content, have no schema.
//     The path of an item without identity ends with its index.
//
// The error joins an [*managedfields.EntryError] for each entry that cannot be read. Such an entry
// owns nothing in the sequence, which is valid even then. Causes are [ErrVersion],
// [merge.ErrNoVersion], the error of the converter, or a set or object that cannot be read.
func Owners(o managedfields.Object, t *schema.Type, versions *Versions) (iter.Seq[Owned], error) {
	all := holdings(o, t, versions)
	var errs []error
	for _, h := range all {
		if h.err != nil {
			errs = append(errs, h.err)
		}
	}
	return func(yield func(Owned) bool) {
		w := newOwnerWalk(o, all)
		w.yield = yield
		w.root(t, o.Content)
	}, errors.Join(errs...)
}
