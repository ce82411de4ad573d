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

// Who owns what of an object: its parts, in the order of the document, each with its owners. The
// walk that finds them is in owners_walk.go.

// Owner is a manager that owns a part of an object.
type Owner struct {
	Index      int // of its entry in [managedfields.Object.Entries]
	Manager    merge.Manager
	APIVersion string    // of its entry
	Time       time.Time // likewise
}

// What the parts of an object are, see [Owned].
const (
	leafPart   = "leaf"
	itemPart   = "item"
	atomicPart = "atomic"
)

// Owned is one part of an object with all that own it.
type Owned struct {
	Path  fieldpath.Path
	Value value.Value
	// Part says what it is:
	//
	//	leaf    a scalar, null, or an empty list or object
	//	item    an item of a set or keyed list; what is in it follows
	//	atomic  a list or object that is owned as a whole, and not empty; what is in it follows
	Part string
	// Owners are sorted as the object's entries are, and empty when nobody owns the part. The slice
	// is shared: it must not be modified.
	Owners []Owner
	// Through is the path whose owners own the part with it: that of the atomic list or object that
	// the part is inside of, or of the item that the list holds more than once. It is nil when
	// Owners own the part itself.
	Through fieldpath.Path
}

// Owners yields who owns what of o, a t: each leaf and each item of o once, in the order of the
// document, that is, members by name and items as the list has them; an item or atomic before what
// is in it.
//
//  1. All co-owners are given. A part can have none: identity and bookkeeping such as
//     metadata.name, defaults, what the server filled in, and an empty list that is not atomic are
//     nobody's.
//  2. Atomic lists and objects are owned as a whole. What is in them has their owners, with Through
//     saying so; so has what is in items that the list holds more than once.
//  3. Sets are adapted to t first, by rules R1 to R3. Sets of another version than o's are read by
//     versions: nil versions means that they cannot be.
//  4. o need not conform to t: a member that t does not declare, and all in it, is of no schema; an
//     item without identity has the path of its place in the list.
//
// The error joins an [*managedfields.EntryError] for each entry that cannot be read; these own
// nothing in what is yielded. It wraps [ErrVersion], [merge.ErrNoVersion] or what the converter
// returns. The sequence is good for use even then.
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
