// Package jsontext is the grammar of JSON text: white space, punctuation, strings and numbers, and the printing of strings. It
// knows nothing of values or sets: packages value and fieldpath make these from the tokens that a [Scanner] passes.
//
// JSON parsers accept different strings. deed reads each input as the parser that Kubernetes uses for it. [Mode] lists these
// parsers.
package jsontext
