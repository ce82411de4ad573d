// Package value shows Go values as documents of maps, lists and scalars. It has the API of structured-merge-diff's package
// value.
//
// A [Value] is a view of an unstructured value ([NewValueInterface]), or of a Go struct by reflection ([NewValueReflect]). It
// copies nothing: [Map.Set] and [Map.Delete] change the Go value. Package typed reads a view once, into a document of deed,
// and deed merges and compares documents.
//
// A function with a name that ends in Using allocates its views with an [Allocator].
package value
