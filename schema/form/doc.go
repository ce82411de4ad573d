// Package form computes the parts of a JSON document that a Go struct keeps.
//
// Kubernetes holds objects of its built-in kinds as Go structs. A server reads a document into a struct and prints
// the struct. Empty members may disappear, or appear without being sent. null may become an empty list, and the
// reverse. Quantities and times get one spelling. A [Type] describes such a Go type. [Type.Normalize] returns the
// value that a Go value prints after it read another value, and fails if the Go type cannot hold it. [Types] is a
// set of descriptions by name. [Parse] reads it from text.
//
// The package knows no single kind. Default values come from rules: see [Types.SetRules].
package form
