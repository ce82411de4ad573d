// Package merge decides who owns the fields of an object, and who conflicts with whom when it changes, by the API of
// structured-merge-diff's package of this name.
package merge
