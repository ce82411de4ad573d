// Package jsontext is the grammar of JSON text: what white space, strings, numbers and the
// punctuation around them look like, where they end, and how strings are printed. It knows nothing
// of values or sets: packages value and fieldpath make those of what a [Scanner] passes.
//
// Readers of JSON differ in what they take for a string, and deed reads what each of them reads.
// [Mode] lists them.
package jsontext
