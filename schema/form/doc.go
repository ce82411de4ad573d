// Package form knows what a Go struct keeps of a JSON document.
//
// Kubernetes holds objects of its built-in kinds as Go structs. What a client sends is read into one and printed
// from it: members that are empty are left out, or printed although nobody set them; null and an empty list may
// become one another; quantities and times get one spelling. A [Type] describes such a Go type; [Type.Normalize]
// answers what reading and printing makes of a value, and fails where the Go type cannot hold it. [Types] is a set
// of descriptions by name, read from text: see [Parse].
//
// The package knows nothing of single kinds. Default values are given to it as rules: see [Types.SetRules].
package form
