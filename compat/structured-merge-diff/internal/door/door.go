// Package door gives packages of this module access to functions of other packages that are not public API. It works
// like deed's package door, which other modules cannot import.
package door

// Door hides a value of T, a struct without fields.
type Door[T any] struct{ behind T }

// Open returns the hidden value of d.
func Open[T any](d Door[T]) T { return d.behind }
