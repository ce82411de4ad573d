// Package value shows Go values as documents of maps, lists and scalars, by the API of structured-merge-diff's package of this
// name.
//
// A [Value] is a view: of what unstructured objects hold ([NewValueInterface]), or of Go structs by reflection
// ([NewValueReflect]). It copies nothing, and what [Map.Set] and [Map.Delete] change is changed in the Go value. Package typed
// reads a view once, into a document of deed, and all merging and comparing is done there.
//
// Functions that end in Using take an [Allocator], to which they leave how views are allocated.
package value
