// Package door lets packages of this module give each other what is no part of their public API.
//
// A package has at most one door. It is an exported variable called Internal, so that everybody sees that there is one, but
// to open it takes this package, which nobody outside of the module can import:
//
//	package fieldpath
//
//	// Internal is for the packages of this module alone.
//	var Internal = door.To(internal{})
//
//	type internal struct{}
//
//	func (internal) Size(s Set) int { return s.size() }
//
//	package managedfields
//
//	var paths = door.Open(fieldpath.Internal)
//
//	… paths.Size(s)
//
// What is behind a door is a struct without fields, so that its methods are plain functions, which compilers inline.
package door

// Door is what a package shows of T, which is behind it: nothing.
type Door[T any] struct{ behind T }

// To returns a door that leads to behind.
func To[T any](behind T) Door[T] { return Door[T]{behind} }

// Open returns what is behind d.
func Open[T any](d Door[T]) T { return d.behind }
