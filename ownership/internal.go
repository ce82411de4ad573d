package ownership

import (
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// What this package needs of the packages below beyond their API.
var (
	paths    = door.Open(fieldpath.Internal{})
	schemas  = door.Open(schema.Internal{})
	typing   = door.Open(typed.Internal{})
	merging  = door.Open(merge.Internal{})
	managing = door.Open(managedfields.Internal{})
)

// Internal gives the other packages of this module access to functions outside the API. No other
// module can open it: see docs/decisions/0025.
type Internal = door.Door[internal]

// internal is what is behind the door: a struct without fields, so that its methods are functions.
type internal struct{}

// FindOwners returns the entries of the given operation that own all of fields. Entries that cannot
// be read own nothing.
func (internal) FindOwners(entries []managedfields.Entry, op merge.Operation, fields fieldpath.Set) []managedfields.Entry {
	return findOwners(entries, op, fields)
}

// NeedsSchema reports whether [Check] finds what c is about only with the type of the object's kind.
func (internal) NeedsSchema(c Code) bool { return c.needsSchema() }

// ChangeOf tells what plan, an apply of config to live, changes, as [WouldChange] does, where merged
// is what the object becomes before defaults are filled in.
func (internal) ChangeOf(plan *managedfields.Plan, live, config managedfields.Object, merged value.Value) Change {
	return changeOf(plan, live, config, merged)
}
