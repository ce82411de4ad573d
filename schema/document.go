package schema

import "github.com/deed-project/deed/value"

// A schema as data: what converters from OpenAPI make, generators fill and Compile reads. All of it
// may be made and changed by anybody; compiled types share nothing with it that could change.

// Document is a schema as written: named types that refer to each other by name. Its text form is
// the schema YAML of structured-merge-diff, which package schema/yaml reads; see [ParseDocument]. The nil Document has no types.
type Document struct {
	Types []TypeDef
}

// TypeDef gives an atom a name.
type TypeDef struct {
	Name string
	Atom
}

// Atom says which kinds of values a type admits and how each is merged. More than one part may be
// set: the value decides which applies. An Atom without any part is invalid.
type Atom struct {
	Scalar Scalar // None when no scalar is admitted
	Word   string // how an UnknownScalar is written; without meaning for any other
	List   *ListDef
	Map    *MapDef
}

// Relationship says how the elements of a list or map relate to each other.
type Relationship string

// The relationships. A list without one is incomplete: its values can be validated but not merged.
// A map without one is Separable.
const (
	Atomic      Relationship = "atomic"      // list or map: one value, owned as a whole
	Associative Relationship = "associative" // list: items are found by their keys, or by their value when there are no keys
	Separable   Relationship = "separable"   // map: each member is a value of its own
)

// ListDef describes the lists that a type admits.
type ListDef struct {
	ElementType  TypeRef
	Relationship Relationship
	Keys         []string // the fields that identify an item of an associative list; none make it a set
}

// MapDef describes the objects that a type admits.
type MapDef struct {
	Fields       []FieldDef
	ElementType  TypeRef // of members that Fields does not name; the zero TypeRef admits none
	Relationship Relationship
}

// FieldDef declares one field of a map.
type FieldDef struct {
	Name    string
	Type    TypeRef
	Default value.Value // stands in for an absent key of a list item, and for nothing else; absent when there is none
}

// TypeRef refers to a type: by name, or by an atom written in place.
type TypeRef struct {
	NamedType    string
	Inlined      Atom         // used when NamedType is empty
	Relationship Relationship // when not empty, replaces that of the type's map, or else of its list
	Nullable     bool         // has no effect: null is admitted everywhere
}

// Scalar says which scalars a type admits. Null is always among them.
type Scalar uint8

// The scalars. UnknownScalar stands for a word that is none of them; it admits null only.
const (
	None    Scalar = iota
	Numeric        // integers and floats
	String
	Boolean
	Untyped // any of the three
	UnknownScalar
)

var scalarNames = [...]string{None: "", Numeric: "numeric", String: "string", Boolean: "boolean", Untyped: "untyped", UnknownScalar: "unknown"}

// String returns the word that a schema document has for s, and "unknown" for what is no Scalar.
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
