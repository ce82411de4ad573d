// Package value holds JSON documents as immutable values.
//
// Its nouns are [Value], one JSON value of any [Kind], and [Member], one named value of an object.
// A Value is 16 bytes and is passed by value. It never changes, so goroutines and documents may
// share every copy and every part of it. Objects keep their members sorted by name. Iteration,
// printing and comparison therefore have one order. A comparison of two objects walks two slices.
//
// Values come from JSON text ([Parse]), from the maps of unstructured Kubernetes objects
// ([FromAny]) and from constructors ([Object], [List], [String], …). [Value.AppendJSON] and
// [Value.ToAny] convert them back. A [Decoder] reads documents that belong together, and lets them
// share equal parts. Package value/structs converts Go structs.
//
// The package knows JSON and nothing else: no schema, no paths, no YAML.
package value
