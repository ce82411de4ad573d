package structural

import (
	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/value"
)

// Internal gives the other packages of this module access to functions outside the API. Other
// modules cannot open it: see docs/decisions/0025.
type Internal = door.Door[internal]

// internal holds the functions behind the door, as methods of a struct without fields.
//
// A write leaves most parts of an object as they were, and these parts need no second check. known
// is the object before the write, or absent. Load must return known unchanged, and Duplicates must
// find nothing in it. Walks skip a part of the object that shares its storage with the same place
// in known. This is correct because the result for a part depends only on the part and the schema
// of its place.
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

// DecodesSettled reports whether the result of Decode can serve as known in the next call. The
// metadata of the object itself is an exception: every call decodes it. The result cannot serve if
// defaults contain nulls, which are dropped. It cannot serve either if there are embedded
// resources, whose metadata may need two steps to become canonical.
func (internal) DecodesSettled(s *Schema) bool {
	root := s.rootNode()
	return !root.below.nulls && !root.below.resources
}
