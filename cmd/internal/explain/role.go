package explain

import (
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
)

// Role is the part that a field plays in ownership, and with that what it takes to take or release
// it.
type Role int

const (
	// Value is a leaf, or a list or object that is one value: it is owned as a whole.
	Value Role = iota
	// System is identity or bookkeeping: kube-apiserver takes it out of every set.
	System
	// PartOfValue is inside of an atomic list or object: whoever owns that owns it.
	PartOfValue
	// KeyedItem is an item of a list that tells items apart by keys: it is owned beside what is in
	// it.
	KeyedItem
	// Container is a list or object whose parts are owned one by one, and is no value of its own.
	Container
)

// managing is what this package needs of managedfields beyond its API.
var managing = door.Open(managedfields.Internal{})

// roleOf returns the role of the last step of way, which is inside the atomic value that the first
// atomic steps lead to, if there are any.
func roleOf(way types.Way, atomic int) Role {
	last := way[len(way)-1]
	switch {
	case managing.SystemFields().Has(way.Path()):
		return System
	case atomic > 0:
		return PartOfValue
	case isGranular(last.Type) && last.Element.Kind() == fieldpath.KindKey:
		return KeyedItem
	case isGranular(last.Type) && last.Type.Scalar() == schema.None:
		return Container
	}
	return Value
}

// isGranular reports whether the parts of a t are owned one by one.
func isGranular(t *schema.Type) bool {
	l, m := t.List(), t.Map()
	return (l != nil || m != nil) && (l == nil || l.Topology() == schema.SetList || l.Topology() == schema.KeyedList) &&
		(m == nil || !m.Atomic())
}
