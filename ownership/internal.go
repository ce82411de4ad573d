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

// The functions of lower packages that this package needs beyond their API.
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

// internal is the type behind the door. It has no fields, so that its methods are plain functions.
type internal struct{}

// FindOwners returns the entries of the given operation that own all of fields. Entries that cannot
// be read own nothing.
func (internal) FindOwners(entries []managedfields.Entry, op merge.Operation, fields fieldpath.Set) []managedfields.Entry {
	return findOwners(entries, op, fields)
}

// SaveRecord returns the entries of o with an owner for kubectl's record, see saveRecord.
func (internal) SaveRecord(o managedfields.Object) []managedfields.Entry { return saveRecord(o) }

// AfterApply carries out the requests that kubectl sends after an apply of config by manager, which
// stored object, with conflicts forced: see afterApply.
func (internal) AfterApply(
	m *managedfields.FieldManager, object, config managedfields.Object, manager string,
	store func(before, outcome managedfields.Object) (managedfields.Object, error),
) (sent []Request, failed string, _ error) {
	return afterApply(m, object, config, manager, true, store)
}

// NeedsSchema reports whether [Check] finds c only with the type of the object's kind.
func (internal) NeedsSchema(c Code) bool { return c.needsSchema() }

// ChangeOf returns the changes of plan, as [WouldChange] does. plan is an apply of config to live.
// merged is the resulting object before defaults are filled in.
func (internal) ChangeOf(plan *managedfields.Plan, live, config managedfields.Object, merged value.Value) Change {
	return changeOf(plan, live, config, merged)
}
