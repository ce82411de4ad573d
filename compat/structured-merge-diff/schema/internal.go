package schema

import (
	"sync"

	deed "github.com/deed-project/deed/schema"
	"sigs.k8s.io/structured-merge-diff/v6/internal/door"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Internal gives the other packages of this module access to functions outside the API.
type Internal = door.Door[internal]

type internal struct{}

// Compile returns deed's type for tr, a reference in s. It returns nil if there is no such type, or if the type has a defect.
// It keeps compiled types.
func (internal) Compile(s *Schema, tr TypeRef) *Type { return s.indexed().compiled.find(s, tr) }

// Type is a type of deed, with the readers that package typed keeps for it.
type Type struct {
	*deed.Type
	Readers sync.Pool // of *value.Reader
}

// compiled holds the types of a schema by reference. References by name are equal if the names are equal. Inlined references
// are equal if their pointers are equal.
type compiled struct {
	types sync.Map // from refKey to *Type

	once  sync.Once
	named map[string]*deed.Type
	mu    sync.Mutex
	size  int // number of types
}

// refKey identifies a reference.
type refKey struct {
	name         string
	inlined      Atom // zero if there is a name
	named        bool
	relationship ElementRelationship
}

// maxInlined bounds the number of kept types: a program may make a new inlined reference for each value.
const maxInlined = 4096

func (c *compiled) find(s *Schema, tr TypeRef) *Type {
	var key refKey
	if tr.NamedType != nil {
		key.name, key.named = *tr.NamedType, true
	} else {
		key.inlined = tr.Inlined
	}
	if tr.ElementRelationship != nil {
		key.relationship = *tr.ElementRelationship
	}
	if known, ok := c.types.Load(key); ok {
		return known.(*Type)
	}
	t := &Type{Type: c.compile(s, tr, key)}
	if t.Type == nil || t.Err() != nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size++; c.size > maxInlined {
		return t
	}
	known, _ := c.types.LoadOrStore(key, t)
	return known.(*Type)
}

// compile returns the type of tr, or nil if there is none.
func (c *compiled) compile(s *Schema, tr TypeRef, key refKey) *deed.Type {
	c.once.Do(func() { c.named, _ = deed.Compile(document(s.Types)) }) // a defect is an error only for values of the type
	if key.named && key.relationship == "" {
		return c.named[key.name]
	}
	d := document(s.Types)
	d.Types = append(d.Types, deed.TypeDef{Name: wrapper, Atom: deed.Atom{Map: &deed.MapDef{ElementType: ref(tr)}}})
	types, _ := deed.Compile(d)
	return types[wrapper].Map().Element()
}

// wrapper is the name of a map type whose members have an unnamed type. No schema has a type of this name.
const wrapper = "\x00"

// document returns types as a document of deed.
func document(types []TypeDef) *deed.Document {
	d := &deed.Document{Types: make([]deed.TypeDef, len(types))}
	for i, t := range types {
		d.Types[i] = deed.TypeDef{Name: t.Name, Atom: atom(t.Atom)}
	}
	return d
}

func ref(tr TypeRef) deed.TypeRef {
	out := deed.TypeRef{Nullable: tr.Nullable}
	if tr.NamedType != nil {
		out.NamedType = *tr.NamedType
	} else {
		out.Inlined = atom(tr.Inlined)
	}
	if tr.ElementRelationship != nil {
		out.Relationship = deed.Relationship(*tr.ElementRelationship)
	}
	return out
}

func atom(a Atom) deed.Atom {
	var out deed.Atom
	if a.Scalar != nil {
		switch *a.Scalar {
		case Numeric:
			out.Scalar = deed.Numeric
		case String:
			out.Scalar = deed.String
		case Boolean:
			out.Scalar = deed.Boolean
		case Untyped:
			out.Scalar = deed.Untyped
		default:
			out.Scalar, out.Word = deed.UnknownScalar, string(*a.Scalar)
		}
	}
	if a.List != nil {
		out.List = &deed.ListDef{
			ElementType: ref(a.List.ElementType), Relationship: deed.Relationship(a.List.ElementRelationship), Keys: a.List.Keys,
		}
	}
	if a.Map != nil {
		out.Map = &deed.MapDef{
			ElementType: ref(a.Map.ElementType), Relationship: deed.Relationship(a.Map.ElementRelationship),
			Fields: make([]deed.FieldDef, len(a.Map.Fields)),
		}
		for i, f := range a.Map.Fields {
			out.Map.Fields[i] = deed.FieldDef{Name: f.Name, Type: ref(f.Type)}
			if f.Default != nil {
				out.Map.Fields[i].Default, _, _ = new(value.Reader).Read(value.NewValueInterface(f.Default))
			}
		}
	}
	return out
}
