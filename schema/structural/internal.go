package structural

import (
	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/value"
)

// Internal gives the other packages of this module access to functions outside the API. No other
// module can open it: see docs/decisions/0025.
type Internal = door.Door[internal]

// internal is what is behind the door: a struct without fields, so that its methods are functions.
//
// What a write makes of an object shares most parts with what was there, which need not be looked
// at again: known is an object that Load gives back as it is, and in which Duplicates finds nothing,
// or absent. A part of the object that is the same storage as what known has in its place is left
// out of walks: its outcome depends on nothing but the schema of its place.
type internal struct{}

// Decode is s.Decode, then s.Default.
func (internal) Decode(s *Schema, object, known value.Value) (value.Value, []string, error) {
	object, unknown, err := s.decode(object, known)
	if err != nil {
		return value.Value{}, nil, err
	}
	return s.fill(object, known), unknown, nil
}

// Load is s.Load, then s.Default.
func (internal) Load(s *Schema, object, known value.Value) (value.Value, error) {
	object, err := s.load(object, known)
	if err != nil {
		return value.Value{}, err
	}
	return s.fill(object, known), nil
}

// Duplicates is s.Duplicates.
func (internal) Duplicates(s *Schema, object, known value.Value) []*FieldError {
	return s.duplicates(object, known)
}

// DecodesSettled reports whether what Decode returns is such an object, its own metadata aside, which is
// always looked at. It is none where defaults have nulls, which go, or there are embedded resources,
// whose metadata may become canonical in two steps.
func (internal) DecodesSettled(s *Schema) bool {
	root := s.rootNode()
	return !root.below.nulls && !root.below.resources
}
