// Package typed walks values along their types. It validates them, lists their fields, merges and
// compares them, and removes or extracts fields.
//
// Its noun is [Value]: a value.Value that conforms to a schema.Type. [New] validates, so later
// walks need not validate again. [Merge] and [Compare] report only list items that they cannot
// pair: duplicates, which [AllowDuplicates] permits in stored objects, and items without identity.
// Walks reuse the unchanged nodes of their inputs. Comparing an object with its merged successor
// therefore costs only as much as the change.
//
// Package merge decides which manager owns which fields.
package typed
