// Package typed validates values against a schema, merges and compares them, and removes or extracts parts, by the API of
// structured-merge-diff's package of this name.
//
// A [TypedValue] is read into a document of deed once, when it is made. What is computed of it stays a document: only
// [TypedValue.AsValue] makes maps and slices of it, on demand, with the numbers and the storage of leaves that the values it was
// made of had. Maps that are changed afterwards do not change a TypedValue.
//
// A value that does not conform to its type, or that is no document, as [AsTypedUnvalidated] admits, is not read. Walks of views,
// which are slower, deal with these.
package typed
