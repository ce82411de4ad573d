// Package merge decides which managers own the fields of an object, and which managers conflict when it changes. It
// has the API of structured-merge-diff's package merge.
package merge
