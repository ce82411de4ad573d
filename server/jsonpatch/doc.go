// Package jsonpatch applies JSON patches of RFC 6902 as kube-apiserver's library does, gopkg.in/evanphx/json-patch.v4. Clients depend on
// the library's departures from the RFC and on its error texts.
//
//	Decode  decodes a patch
//	Apply   applies a patch to a document
//	Text    applies a patch and returns the text of the outcome
//
// Why not the library: each step of a path copies the text of everything below, and each added or removed item copies the list. Copies of
// copies double the document. This package costs as much as the patch, the document and the copied bytes, which are bounded. Parts that a
// patch does not change share storage with the document.
//
// One difference remains. An operation that reads the outcome of an earlier one sees its value, where the library sees its spelling. It
// shows for numbers and strings that are not in canonical form. It also shows for the copy of a null that an operation wrote, which the library
// takes for an object.
package jsonpatch
