package value

// Value is a view of one value. At most one of its Is methods returns true. None returns true for a Go value that cannot be a
// document, such as a channel or a uint64.
type Value interface {
	// IsMap reports whether the value is a map. A nil interface is not a map.
	IsMap() bool
	// IsList reports whether the value is a list.
	IsList() bool
	// IsBool reports whether the value is a boolean.
	IsBool() bool
	// IsInt reports whether the value is an integer of any Go type but uint64.
	IsInt() bool
	// IsFloat reports whether the value is a float.
	IsFloat() bool
	// IsString reports whether the value is a string.
	IsString() bool
	// IsNull reports whether the value is null.
	IsNull() bool

	// AsMap returns the value as a map. It panics for every other kind.
	AsMap() Map
	// AsMapUsing does the work of AsMap. The caller gives the map back by Allocator.Free.
	AsMapUsing(Allocator) Map
	// AsList returns the value as a list. It panics for every other kind.
	AsList() List
	// AsListUsing does the work of AsList. The caller gives the list back by Allocator.Free.
	AsListUsing(Allocator) List
	// AsBool returns the value as a boolean. It panics for every other kind.
	AsBool() bool
	// AsInt returns the value as an integer. It panics for every other kind.
	AsInt() int64
	// AsFloat returns the value as a float. It panics for every other kind.
	AsFloat() float64
	// AsString returns the value as a string. It panics for every other kind.
	AsString() string

	// Unstructured returns the value in unstructured form. For a value of NewValueInterface, the result is the argument itself.
	// For other values, it is new.
	Unstructured() interface{}
}

// List is a view of a list.
type List interface {
	// Length returns the number of items.
	Length() int
	// At returns item i, counted from 0. It panics if there is none.
	At(int) Value
	// AtUsing does the work of At. The caller gives the item back by Allocator.Free.
	AtUsing(Allocator, int) Value
	// Range returns a position before the first item.
	Range() ListRange
	// RangeUsing does the work of Range. The caller gives the range back by Allocator.Free.
	RangeUsing(Allocator) ListRange
	// Equals reports whether both lists have equal items in the same order.
	Equals(List) bool
	// EqualsUsing does the work of Equals.
	EqualsUsing(Allocator, List) bool
}

// ListRange is a position in a list.
type ListRange interface {
	// Next moves to the next item, and reports whether there is one.
	Next() bool
	// Item returns the current item and its index. The item is valid until the next call of Next or Free. Item panics if there
	// is no current item.
	Item() (index int, value Value)
}

// Map is a view of a map or a Go struct.
type Map interface {
	// Set sets the member called key. It panics for a struct without that field.
	Set(key string, val Value)
	// Get returns the member called key, and whether there is one.
	Get(key string) (Value, bool)
	// GetUsing does the work of Get. The caller gives the member back by Allocator.Free.
	GetUsing(a Allocator, key string) (Value, bool)
	// Has reports whether there is a member called key.
	Has(key string) bool
	// Delete removes the member called key. It panics if the member is a struct field that cannot be left out.
	Delete(key string)
	// Equals reports whether both maps have the same names with equal members.
	Equals(other Map) bool
	// EqualsUsing does the work of Equals.
	EqualsUsing(a Allocator, other Map) bool
	// Iterate calls fn with each member, in any order, until fn returns false. It returns true if fn never returned false. The
	// member is valid until fn returns.
	Iterate(func(key string, value Value) bool) bool
	// IterateUsing does the work of Iterate.
	IterateUsing(Allocator, func(key string, value Value) bool) bool
	// Length returns the number of members.
	Length() int
	// Empty reports whether there are no members.
	Empty() bool
	// Zip calls fn with each name that one of the maps has, and with the members of both. nil stands for an absent member. It
	// ends and returns as Iterate does.
	Zip(other Map, order MapTraverseOrder, fn func(key string, lhs, rhs Value) bool) bool
	// ZipUsing does the work of Zip.
	ZipUsing(a Allocator, other Map, order MapTraverseOrder, fn func(key string, lhs, rhs Value) bool) bool
}

// MapTraverseOrder is an order in which maps are zipped.
type MapTraverseOrder int

// The orders.
const (
	Unordered       = iota // any
	LexicalKeyOrder        // by name, bytewise
)

// EmptyRange is the range of every empty list.
var EmptyRange = &emptyRange{}

type emptyRange struct{}

func (*emptyRange) Next() bool { return false }

func (*emptyRange) Item() (index int, value Value) { panic("Item called on empty ListRange") }
