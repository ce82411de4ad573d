package schema

import (
	"sync"
	"sync/atomic"
)

// Schema is a list of types that refer to each other by name. The first lookup indexes the types, so a Schema must not be
// modified afterwards.
type Schema struct {
	Types []TypeDef `yaml:"types,omitempty"`

	index atomic.Pointer[index]
}

// index holds data that is computed once for a schema. Copies of the schema share it.
type index struct {
	types      map[string]TypeDef
	overridden sync.Map // from TypeRef with an ElementRelationship to Atom
	compiled   compiled
}

// indexed returns the index of s.
func (s *Schema) indexed() *index {
	if known := s.index.Load(); known != nil {
		return known
	}
	x := &index{types: make(map[string]TypeDef, len(s.Types))}
	for _, t := range s.Types {
		x.types[t.Name] = t
	}
	if s.index.CompareAndSwap(nil, x) {
		return x
	}
	return s.index.Load()
}

// TypeSpecifier is a type of a schema.
type TypeSpecifier struct {
	Type   TypeRef `yaml:"type,omitempty"`
	Schema Schema  `yaml:"schema,omitempty"`
}

// TypeDef gives an atom a name, which no other type of the schema has.
type TypeDef struct {
	Name string `yaml:"name,omitempty"`

	Atom `yaml:"atom,omitempty,inline"`
}

// TypeRef refers to a type, by its name or by an atom in place.
type TypeRef struct {
	NamedType *string `yaml:"namedType,omitempty"`
	Inlined   Atom    `yaml:",inline,omitempty"` // used when NamedType is nil

	// ElementRelationship, if not nil, replaces the relationship of the type's map, or else of its list.
	ElementRelationship *ElementRelationship `yaml:"elementRelationship,omitempty"`

	// Nullable has no effect: null is admitted everywhere.
	Nullable bool `yaml:"nullable,omitempty"`
}

// Atom describes the values of a type. It admits the values that one of its parts admits. An Atom without parts is invalid.
type Atom struct {
	*Scalar `yaml:"scalar,omitempty"`
	*List   `yaml:"list,omitempty"`
	*Map    `yaml:"map,omitempty"`
}

// Scalar says which scalars a type admits.
type Scalar string

// The scalars.
const (
	Numeric = Scalar("numeric") // integers and floats
	String  = Scalar("string")
	Boolean = Scalar("boolean")
	Untyped = Scalar("untyped") // any of the three
)

// ElementRelationship says how the parts of a list or map belong together.
type ElementRelationship string

// The relationships.
const (
	Associative = ElementRelationship("associative") // of a list: items are found by their keys, or by their value
	Atomic      = ElementRelationship("atomic")      // the list or map is one value
	Separable   = ElementRelationship("separable")   // of a map: each member is a separate value; this is the default
)

// Map describes the maps that a type admits. Their members are declared fields. If ElementType is not zero, other members are
// admitted too. The first lookup indexes the fields, so a Map must not be modified afterwards.
type Map struct {
	// Fields are the declared fields, each once.
	Fields []StructField `yaml:"fields,omitempty"`

	// Unions have no effect.
	Unions []Union `yaml:"unions,omitempty"`

	// ElementType is the type of members that are not declared; the zero TypeRef admits none.
	ElementType TypeRef `yaml:"elementType,omitempty"`

	// ElementRelationship is Separable, Atomic or empty, which means Separable.
	ElementRelationship ElementRelationship `yaml:"elementRelationship,omitempty"`

	fields atomic.Pointer[map[string]StructField]
}

// FindField returns the declared field of this name, and whether there is one.
func (m *Map) FindField(name string) (StructField, bool) {
	known := m.fields.Load()
	if known == nil {
		fields := make(map[string]StructField, len(m.Fields))
		for _, f := range m.Fields {
			fields[f.Name] = f
		}
		known = &fields
		m.fields.CompareAndSwap(nil, known)
	}
	f, ok := (*known)[name]
	return f, ok
}

// CopyInto makes dst, if it is not nil, a copy of m that shares its parts. No other goroutine may use dst during the call.
func (m *Map) CopyInto(dst *Map) {
	if dst == nil {
		return
	}
	dst.Fields, dst.Unions, dst.ElementType, dst.ElementRelationship = m.Fields, m.Unions, m.ElementType, m.ElementRelationship
	if known := m.fields.Load(); known != nil {
		dst.fields.Store(known)
	}
}

// Union is a group of fields with at most one set field. It has no effect.
type Union struct {
	// Discriminator is the field that names the set field; nil if there is none.
	Discriminator *string `yaml:"discriminator,omitempty"`

	// DeduceInvalidDiscriminator makes the discriminator follow the fields.
	DeduceInvalidDiscriminator bool `yaml:"deduceInvalidDiscriminator,omitempty"`

	// Fields are the fields without the discriminator.
	Fields []UnionField `yaml:"fields,omitempty"`
}

// UnionField is a field of a union, with the value of the discriminator when the field is set.
type UnionField struct {
	FieldName          string `yaml:"fieldName"`
	DiscriminatorValue string `yaml:"discriminatorValue"`
}

// StructField is a declared field of a map.
type StructField struct {
	Name string  `yaml:"name,omitempty"`
	Type TypeRef `yaml:"type,omitempty"`

	// Default stands in for a key that an item of a list lacks; nil if there is none.
	Default interface{} `yaml:"default,omitempty"`
}

// List describes the lists that a type admits.
type List struct {
	ElementType TypeRef `yaml:"elementType,omitempty"`

	// ElementRelationship is Associative or Atomic. Lists have no default.
	ElementRelationship ElementRelationship `yaml:"elementRelationship,omitempty"`

	// Keys are the fields by which items of an associative list are found. Without keys, the list is a set.
	Keys []string `yaml:"keys,omitempty"`
}

// FindNamedType returns the type of this name, and whether there is one.
func (s *Schema) FindNamedType(name string) (TypeDef, bool) {
	t, ok := s.indexed().types[name]
	return t, ok
}

// Resolve returns the atom that tr refers to. It returns false if there is no such type, or if tr replaces the relationship of a
// type that has neither map nor list.
func (s *Schema) Resolve(tr TypeRef) (Atom, bool) {
	if tr.ElementRelationship != nil {
		if known, ok := s.indexed().overridden.Load(tr); ok {
			return known.(Atom), true
		}
	}
	atom := tr.Inlined
	if tr.NamedType != nil {
		t, ok := s.FindNamedType(*tr.NamedType)
		if !ok {
			return Atom{}, false
		}
		atom = t.Atom
	}
	if tr.ElementRelationship == nil {
		return atom, true
	}
	switch {
	case atom.Map != nil:
		m := &Map{}
		atom.Map.CopyInto(m)
		m.ElementRelationship = *tr.ElementRelationship
		atom.Map = m
	case atom.List != nil:
		l := *atom.List
		l.ElementRelationship = *tr.ElementRelationship
		atom.List = &l
	default:
		return Atom{}, false
	}
	known, _ := s.indexed().overridden.LoadOrStore(tr, atom)
	return known.(Atom), true
}

// CopyInto makes dst, if it is not nil, a copy of s that shares its types. No other goroutine may use dst during the call.
func (s *Schema) CopyInto(dst *Schema) {
	if dst == nil {
		return
	}
	dst.Types = s.Types
	if known := s.index.Load(); known != nil {
		dst.index.Store(known)
	}
}
