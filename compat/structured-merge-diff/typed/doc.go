// Package typed validates values against a schema, merges and compares them, and removes or extracts parts. It has the API of
// structured-merge-diff's package typed.
//
// [AsTyped], or else the first operation on a [TypedValue], reads it into a document of deed. A result computed from
// TypedValues stays a document. [TypedValue.AsValue] makes maps and slices from it on demand. These have the number types and
// share the leaves of the source values. Changes to maps after the read do not change the document.
//
// [AsTypedUnvalidated] also admits values that do not conform to their type or cannot be documents. Operations on these walk
// views, which is slower.
package typed
