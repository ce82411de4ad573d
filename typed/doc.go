// Package typed walks values along their types: it validates them, finds which fields they have,
// merges and compares them, and removes or extracts fields.
//
// Its noun is [Value]: a value.Value that conforms to a schema.Type. A Value conforms by
// construction, so that the walks that follow validation need no error paths of their own, with one
// exception that [New] can allow: stored objects may hold the same list item twice. Walks return
// the very nodes of their inputs wherever they change nothing; that makes the comparison of an
// object with what it was merged into as cheap as the change was small.
//
// Who owns the fields, and what to do when they change, is the business of package merge.
package typed
