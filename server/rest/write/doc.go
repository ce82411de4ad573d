// Package write carries out the verbs of an API on objects: one file a verb, each a list of steps that is read top to bottom.
//
//	get, list, watch                                  read
//	create, update, patch, apply, delete, scale       write
//
// What writes have in common is in write.go: an object is read, changed, prepared, validated and stored, again and again until
// nobody else was faster. The package knows HTTP only as far as a request has headers, a query and a body; what it returns is
// an [Answer], or an error that package api turns into a Status.
package write
