// Package jsontext is the grammar of JSON text: white space, punctuation, strings and numbers, and the printing of strings. It
// knows nothing of values or sets: packages value and fieldpath make these from the tokens that a [Scanner] passes.
//
// Readers of JSON accept different strings, and deed reads each input as its reader does. [Mode] lists the readers.
package jsontext
