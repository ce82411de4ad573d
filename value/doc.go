// Package value holds JSON documents as immutable values.
//
// Its nouns are [Value], one JSON value of any [Kind], and [Member], one named value of an object.
// A Value is 16 bytes, is passed by value, and never changes once it is made: every copy, and every
// part of it, may be shared between goroutines and between documents. Objects keep their members
// sorted by name, so that iteration, printing and comparison have one order, and two objects are
// compared by walking two slices.
//
// Values come from JSON text ([Parse]), from what unstructured Kubernetes objects hold ([FromAny]),
// or from constructors ([Object], [List], [String], …), and go back the same ways
// ([Value.AppendJSON], [Value.ToAny]). A [Decoder] reads documents that belong together, and lets
// them share what is the same. Package value/structs does all of that for Go structs.
//
// The package knows JSON and nothing else: no schema, no paths, no YAML.
package value
