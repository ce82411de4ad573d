// Package door gives packages of this module access to functions of other packages that are not public API.
//
// A package has at most one door: an exported type called Internal. Only this package can open it, and other modules cannot
// import this package. The door is a type, not a variable, because documentation lists variables first:
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
// A door holds a struct without fields, so that compilers inline its methods as plain functions.
package door

// Door hides a value of T.
type Door[T any] struct{ behind T }

// Open returns the hidden value of d.
func Open[T any](d Door[T]) T { return d.behind }
