package explain

import (
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
)

// Role is the role of a field in ownership. It determines how the field is taken and released.
type Role int

const (
	// Value is a leaf, or an atomic list or object: it is owned as a whole.
	Value Role = iota
	// System is identity or bookkeeping: kube-apiserver removes it from every set.
	System
	// PartOfValue is inside an atomic list or object, and has its owners.
	PartOfValue
	// KeyedItem is an item of a keyed list: it is owned beside the fields in it.
	KeyedItem
	// Container is a granular list or object, which is no value itself.
	Container
)

// managing gives access to the internals of managedfields beyond its API.
var managing = door.Open(managedfields.Internal{})

// roleOf returns the role of the last step of way. The first atomic steps lead to the atomic value around it; 0 means that there is none.
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

// isGranular reports whether the parts of values of type t are owned one by one.
func isGranular(t *schema.Type) bool {
	l, m := t.List(), t.Map()
	return (l != nil || m != nil) && (l == nil || l.Topology() == schema.SetList || l.Topology() == schema.KeyedList) &&
		(m == nil || !m.Atomic())
}
