package schema

import "github.com/deed-project/deed/value"

// A schema as data. Converters and generators make it, and Compile reads it. Callers may modify a
// Document at any time: compiled types share no mutable data with it.

// Document is a schema as written: named types that refer to each other by name. Its text form is
// the schema YAML of structured-merge-diff, which package schema/yaml reads; see [ParseDocument].
// The nil Document has no types.
type Document struct {
	Types []TypeDef
}

// TypeDef gives an atom a name.
type TypeDef struct {
	Name string
	Atom
}

// Atom says which kinds of values a type admits, and how each kind merges. It may have more than
// one part: the kind of the value selects the part. An Atom without any part is invalid.
type Atom struct {
	Scalar Scalar // None when no scalar is admitted
	Word   string // the text of an UnknownScalar; ignored for other scalars
	List   *ListDef
	Map    *MapDef
}

// Relationship says how the elements of a list or map relate to each other.
type Relationship string

// The relationships. A list without a relationship is incomplete: its values can be validated but
// not merged. A map without a relationship is Separable.
const (
	Atomic      Relationship = "atomic"      // list or map: one value, owned as a whole
	Associative Relationship = "associative" // list: items match by their keys, or by value if there are no keys
	Separable   Relationship = "separable"   // map: each member is a value of its own
)

// ListDef describes the lists that a type admits.
type ListDef struct {
	ElementType  TypeRef
	Relationship Relationship
	Keys         []string // the fields that identify an item of an associative list; empty for a set
}

// MapDef describes the objects that a type admits.
type MapDef struct {
	Fields       []FieldDef
	ElementType  TypeRef // type of the members outside Fields; the zero TypeRef admits none
	Relationship Relationship
}

// FieldDef declares one field of a map.
type FieldDef struct {
	Name    string
	Type    TypeRef
	Default value.Value // replaces an absent key of a list item, and nothing else; absent if there is no default
}

// TypeRef refers to a type: by name, or by an atom written in place.
type TypeRef struct {
	NamedType    string
	Inlined      Atom         // used when NamedType is empty
	Relationship Relationship // if not empty, replaces the relationship of the type's map, or else of its list
	Nullable     bool         // has no effect: null is admitted everywhere
}

// Scalar says which scalars a type admits. Every type admits null.
type Scalar uint8

// The scalars. UnknownScalar stands for any other word, and admits null only.
const (
	None    Scalar = iota
	Numeric        // integers and floats
	String
	Boolean
	Untyped // any of the three
	UnknownScalar
)

var scalarNames = [...]string{None: "", Numeric: "numeric", String: "string", Boolean: "boolean", Untyped: "untyped", UnknownScalar: "unknown"}

// String returns the word for s in a schema document. It is "unknown" if s is not one of the
// constants.
func (s Scalar) String() string { return scalarNames[min(s, UnknownScalar)] }

// parseScalar returns the scalar that word names, and UnknownScalar for any other word.
func parseScalar(word string) Scalar {
	for s, name := range scalarNames[:UnknownScalar] {
		if name == word {
			return Scalar(s)
		}
	}
	return UnknownScalar
}
