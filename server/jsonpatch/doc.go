// Package jsonpatch applies JSON patches of RFC 6902 as the library of kube-apiserver does, gopkg.in/evanphx/json-patch.v4, whose departures
// from the RFC and whose error texts clients know.
//
//	Decode  reads a patch
//	Apply   returns what a patch makes of a document
//	Text    is Apply for a reader of texts
//
// Why not the library: each step of a path copies the text of everything below it, each item that is added or removed copies the list, and
// copies of copies double what there is. Here the cost grows with the patch, the document and what copies add, which is bounded. What a
// patch leaves alone is the same storage in the outcome.
//
// An operation that looks at what an earlier one wrote sees the value, where the library sees how it was spelled: numbers and strings that
// are not written as they are printed, and nulls, which are to the library none of the nulls of the document.
package jsonpatch
