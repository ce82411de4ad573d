package ownership

import (
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/value"
)

// WouldChange tells whether an apply is worth its request. An apply that changes nothing need not
// be sent. An apply that changes only notation is reported, because it would be sent again and
// again.

// Change has the changes of an apply with its conflicts forced. If neither the object nor the
// ownership changes, the apply need not be sent.
type Change struct {
	Object    bool // the object, before defaults are filled in
	Ownership bool // the owners of fields, or their versions; times alone do not count
	// Conflicts are the conflicts that are forced.
	Conflicts merge.Conflicts
	// Notations are values that mean the same in the configuration and the live object, but are
	// written in different ways. They are in the order of the configuration, a list after its
	// content.
	Notations []Notation
	// NotationOnly reports whether the object changes only in Notations. Such an apply makes a new
	// resource version each time that the server has written the value in its own way again.
	NotationOnly bool
}

// Notation is a value that is written in two ways.
type Notation struct {
	Path fieldpath.Path
	// Kind says how the two differ. To the field manager, all kinds except number are changes.
	//
	//	number    1 and 1.0
	//	quantity  "1000m", "1", "1.0" and 1, where the type leaves the kind of scalar open
	//	string    80 and "80", where the type leaves the kind of scalar open
	//	order     the same items of a set or keyed list in another order
	Kind   string
	Live   value.Value
	Wanted value.Value
}

// WouldChange returns the changes that an apply of config to live by manager would make. It does
// not carry the apply out.
//
// Two values mean the same in these cases, by the types of the kind:
//
//  1. They are equal numbers, such as 1 and 1.0. The field manager sees no difference, but a server
//     that stores text may.
//  2. They are quantities of the same amount, and their type leaves the kind of scalar open. Such
//     are the types of quantities, of int-or-string, and of values without a schema. If the type is
//     string or number, different scalars do not mean the same.
//  3. They are sets or keyed lists with the same items in another order.
//
// Errors are those of [managedfields.FieldManager.Plan].
func WouldChange(m *managedfields.FieldManager, live, config managedfields.Object, manager string) (Change, error) {
	plan, err := m.Plan(live, config, manager)
	if err != nil {
		return Change{}, err
	}
	return changeOf(plan, live, config, managing.Merge(plan).Force().Object.Content()), nil
}

// changeOf returns the changes of plan, an apply of config to live, with its conflicts forced.
// merged is the resulting object before defaults are filled in. Fields that an endpoint does not
// write may have their live values there.
//
// Cost: linear in the two objects and in their sets.
func changeOf(plan *managedfields.Plan, live, config managedfields.Object, merged value.Value) Change {
	result, object := managing.Merge(plan).Force(), merging.Live(managing.Merge(plan))
	out := Change{
		Object: result.Changed && !object.Content().Equal(merged), Conflicts: plan.Conflicts(),
		Ownership: len(live.Entries) != merging.Len(result.Managers) || !sameOwners(managing.Stored(plan), result.Managers),
	}
	// The notations of the configuration, whether or not they change the live object.
	written := notations{partial: true}
	written.node(object.Type(), object.Content(), config.Content)
	out.Notations = written.found
	if out.Object {
		changed := notations{}
		changed.node(object.Type(), object.Content(), merged)
		out.NotationOnly = !changed.other
	}
	return out
}

// sameOwners reports whether a and b have the same managers with the same fields and versions.
func sameOwners(a, b merge.Managers) bool {
	if merging.Len(a) != merging.Len(b) {
		return false
	}
	for e := range a.All() {
		if f, ok := b.Get(e.Manager); !ok || e.APIVersion != f.APIVersion || !e.Fields.Equal(f.Fields) {
			return false
		}
	}
	return true
}
