package schema

import (
	"errors"

	"github.com/deed-project/deed/value"
)

// What a walk needs to know of a type: three parts, one for each of scalars, lists and objects, any
// of which may be missing. Types are made by Compile alone, and never change afterwards.

// Type is a resolved type: what it admits, with the types of its parts. Types form a graph, which
// has cycles where a schema is recursive. A Type is immutable and identified by its pointer. The nil
// Type and the zero Type admit nothing, as [Type.Err] says.
type Type struct {
	name   string
	scalar Scalar
	word   string // for scalar in the document
	list   *List
	object *Map
	err    error

	anything bool
	defects  *bool // whether any type of the schema has one
}

// Name returns the name that the type was defined by, and "" for one that was written in place.
func (t *Type) Name() string {
	if t == nil {
		return ""
	}
	return t.name
}

// Scalar returns which scalars t admits; None when it admits none.
func (t *Type) Scalar() Scalar {
	if t == nil {
		return None
	}
	return t.scalar
}

// scalarWord returns the word that the schema document has for Scalar, which for an [UnknownScalar]
// is any.
func (t *Type) scalarWord() string { return t.word }

// List returns how t admits lists, and nil when it does not.
func (t *Type) List() *List {
	if t == nil {
		return nil
	}
	return t.list
}

// Map returns how t admits objects, and nil when it does not.
func (t *Type) Map() *Map {
	if t == nil {
		return nil
	}
	return t.object
}

// Err returns why no value has this type: its name is not defined, its atom is empty, or Compile did
// not make it.
// Types without such a defect return nil. [Compile] reports the defect, but a schema that has some is
// usable as long as no value meets them.
func (t *Type) Err() error {
	if t == nil || t.defects == nil { // nil or zero
		return errNoType
	}
	return t.err
}

// errNoType is why no value has the nil Type or the zero Type.
var errNoType = errors.New("schema error: no type is given")

// isSound reports whether no type of the schema that t, which was compiled, belongs to has a defect.
func (t *Type) isSound() bool { return !*t.defects }

// Topology says how the items of a list are told apart.
type Topology uint8

// The topologies of lists.
const (
	AtomicList Topology = iota // not at all: the list is one value
	SetList                    // by their value
	KeyedList                  // by the values of their keys
	// IncompleteList is one whose relationship the schema leaves open. Its values can be validated,
	// but not merged, compared or owned.
	IncompleteList
)

// List describes the lists that a type admits. The nil List is atomic, and of no element type.
type List struct {
	topology Topology
	element  *Type
	keys     []Key
	allKeys  bool // see requireKeys
}

// Topology returns how the items of the list are told apart.
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

// Key is a field that, with the other keys of a list, identifies an item.
type Key struct {
	Name    string
	Default value.Value // of an item that lacks the field; absent when there is none
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
	Default value.Value // absent when there is none
}

// Fields returns the declared fields in name order. The caller must not modify the slice.
func (m *Map) Fields() []Field {
	if m == nil {
		return nil
	}
	return m.fields
}

// Element returns the type of members that are not declared, and nil when the map admits none.
func (m *Map) Element() *Type {
	if m == nil {
		return nil
	}
	return m.element
}

// Lookup returns the type of the member called name, and whether it is a declared field. The type
// is nil when the map admits no such member.
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

// lookupNext is Lookup for who walks members in the order of their names: declared fields mostly
// come one after the other, so the one with number *next is tried first. *next is 0 to begin with,
// and the caller keeps it for the next member.
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

// admitsAnything reports whether t is a map without fields whose members are deduced or untyped:
// one whose topology no schema change can alter.
func (t *Type) admitsAnything() bool { return t.anything }
