// Package door lets packages of this module give each other functions that are no part of their public API.
//
// A package has at most one door. It is a type called Internal, so that everybody sees that there is one, but to open it takes
// this package, which other modules cannot import. It is a type, not a variable, because documentation lists variables first:
//
//	package fieldpath
//
//	// Internal gives the other packages of this module access to functions outside the API.
//	type Internal = door.Door[internal]
//
//	type internal struct{}
//
//	func (internal) Size(s Set) int { return s.size() }
//
//	package managedfields
//
//	var paths = door.Open(fieldpath.Internal{})
//
//	… paths.Size(s)
//
// A struct without fields is behind each door, so that its methods are plain functions, which compilers inline.
package door

// Door shows nothing of T, which is behind it.
type Door[T any] struct{ behind T }

// Open returns the T behind d.
func Open[T any](d Door[T]) T { return d.behind }
