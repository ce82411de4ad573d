package schema

import (
	"errors"

	"github.com/deed-project/deed/value"
)

// Types as a walk reads them. A type has one part each for scalars, lists and objects; a missing
// part admits no such value. Compile makes types, and requireKeys copies them. A type never changes
// afterwards.

// Type is a resolved type: the values that it admits, and the types of their parts. Types form a
// graph, which has cycles if a schema is recursive. A Type is immutable and identified by its
// pointer. The nil Type and the zero Type admit no value; see [Type.Err].
type Type struct {
	name   string
	scalar Scalar
	word   string // the word for scalar in the document
	list   *List
	object *Map
	err    error

	anything bool
	defects  *bool // whether any type of the schema has a defect; nil for the zero Type
}

// Name returns the name of the type's definition. It is "" for a type that was written in place.
func (t *Type) Name() string {
	if t == nil {
		return ""
	}
	return t.name
}

// Scalar returns the scalars that t admits, or None.
func (t *Type) Scalar() Scalar {
	if t == nil {
		return None
	}
	return t.scalar
}

// scalarWord returns the word for Scalar in the schema document. For an [UnknownScalar], the word
// can be any text.
func (t *Type) scalarWord() string { return t.word }

// List returns the lists that t admits, or nil.
func (t *Type) List() *List {
	if t == nil {
		return nil
	}
	return t.list
}

// Map returns the objects that t admits, or nil.
func (t *Type) Map() *Map {
	if t == nil {
		return nil
	}
	return t.object
}

// Err returns an error if no value has this type: its name is not defined, its atom is empty, or
// Compile did not make it. Otherwise it returns nil. [Compile] reports the defect. A schema with
// defects is usable as long as no value meets them.
func (t *Type) Err() error {
	if t == nil || t.defects == nil { // nil or zero
		return errNoType
	}
	return t.err
}

// errNoType is the error of the nil Type and the zero Type.
var errNoType = errors.New("schema error: no type is given")

// isSound reports whether t's schema has no defects. Compile must have made t.
func (t *Type) isSound() bool { return !*t.defects }

// Topology says how to identify the items of a list.
type Topology uint8

// The topologies of lists.
const (
	AtomicList Topology = iota // not: the list is one value
	SetList                    // by value
	KeyedList                  // by the values of the keys
	// IncompleteList is a list without a relationship in the schema. Its values can be validated,
	// but not merged, compared or owned.
	IncompleteList
)

// List describes the lists that a type admits. The nil List is atomic and has no element type.
type List struct {
	topology Topology
	element  *Type
	keys     []Key
	allKeys  bool // see requireKeys
}

// Topology returns the topology of the list.
func (l *List) Topology() Topology {
	if l == nil {
		return AtomicList
	}
	return l.topology
}

// Element returns the type of the items.
func (l *List) Element() *Type {
	if l == nil {
		return nil
	}
	return l.element
}

// Keys returns the keys of a KeyedList in the order of the schema. The caller must not modify the
// slice.
func (l *List) Keys() []Key {
	if l == nil {
		return nil
	}
	return l.keys
}

// Key is a field that identifies an item, together with the other keys of the list.
type Key struct {
	Name    string
	Default value.Value // the value for an item that lacks the field; absent if there is no default
}

// Map describes the objects that a type admits. The nil Map admits no member.
type Map struct {
	atomic  bool
	fields  []Field // sorted by name
	index   nameIndex
	element *Type
}

// Atomic reports whether the object is one value, owned as a whole.
func (m *Map) Atomic() bool { return m != nil && m.atomic }

// Field is a declared field of a map.
type Field struct {
	Name    string
	Type    *Type
	Default value.Value // absent if there is no default
}

// Fields returns the declared fields in name order. The caller must not modify the slice.
func (m *Map) Fields() []Field {
	if m == nil {
		return nil
	}
	return m.fields
}

// Element returns the type of undeclared members. It is nil if the map admits none.
func (m *Map) Element() *Type {
	if m == nil {
		return nil
	}
	return m.element
}

// Lookup returns the type of the member called name, and whether it is a declared field. The type
// is nil if the map does not admit the member.
func (m *Map) Lookup(name string) (t *Type, declared bool) {
	if m == nil {
		return nil, false
	}
	if len(m.fields) > 0 {
		if i := m.index.find(m.fields, name); i >= 0 {
			return m.fields[i].Type, true
		}
	}
	return m.element, false
}

// lookupNext is Lookup for a walk of members in the order of their names. Members mostly match
// consecutive fields, so that it tries field number *next first. The caller sets *next to 0 before
// the first member, and passes it on for the next members.
func (m *Map) lookupNext(next *int, name string) (t *Type, declared bool) {
	i := *next
	if i >= len(m.fields) || m.fields[i].Name != name {
		if len(m.fields) == 0 {
			return m.element, false
		}
		if i = m.index.find(m.fields, name); i < 0 {
			return m.element, false
		}
	}
	*next = i + 1
	return m.fields[i].Type, true
}

// admitsAnything reports whether t is a map without fields whose members are deduced or untyped. No
// schema change can alter the topology of such a map.
func (t *Type) admitsAnything() bool { return t.anything }
