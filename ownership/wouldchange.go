package ownership

import (
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/value"
)

// Whether an apply is worth its request. One that changes nothing can be spared; and one that
// changes nothing but how values are written is noticed, for it would be sent again and again.

// Change says what an apply would change, its conflicts forced. Where it changes neither the object
// nor the ownership, the request can be spared.
type Change struct {
	Object    bool // the object, before defaults are filled in
	Ownership bool // who owns what, or in which version; times alone do not count
	// Conflicts are those that forcing would decide.
	Conflicts merge.Conflicts
	// Notations are the values that the configuration writes in another way than the live object
	// although they mean the same, in the order of the configuration, a list after what is in it.
	Notations []Notation
	// NotationOnly reports whether the object changes, but in nothing else than Notations: such an
	// apply brings a new resource version every time that the server writes the value in its own
	// way again.
	NotationOnly bool
}

// Notation is a value that is written in two ways.
type Notation struct {
	Path fieldpath.Path
	// Kind says how the two differ. To the field manager all but numbers are changes of the object.
	//
	//	number    1 and 1.0
	//	quantity  "1000m", "1", "1.0" and 1, where the type leaves the kind of scalar open
	//	string    80 and "80", likewise
	//	order     the same items in another order, where items are told apart by keys or values
	Kind   string
	Live   value.Value
	Wanted value.Value
}

// WouldChange tells what an apply of config to live by manager would change, without carrying it
// out.
//
// Values mean the same, by the types of the kind:
//
//  1. Numbers that are equal, such as 1 and 1.0. The field manager sees no difference, a server
//     that stores text may.
//  2. Scalars whose type leaves the kind open, as those of quantities, of int-or-string and of
//     values without a schema do, if both are quantities of the same amount. A type that says
//     string or number takes values at their word.
//  3. Sets and keyed lists with the same items in another order.
//
// Errors are those of [managedfields.FieldManager.Plan].
func WouldChange(m *managedfields.FieldManager, live, config managedfields.Object, manager string) (Change, error) {
	plan, err := m.Plan(live, config, manager)
	if err != nil {
		return Change{}, err
	}
	return changeOf(plan, live, config, managing.Merge(plan).Force().Object.Content()), nil
}

// changeOf tells what plan, an apply of config to live, changes, its conflicts forced. merged is
// what the object becomes before defaults are filled in: what the plan says, or that with what an
// endpoint does not write as it is.
//
// Cost: linear in the two objects and in what is owned.
func changeOf(plan *managedfields.Plan, live, config managedfields.Object, merged value.Value) Change {
	result, object := managing.Merge(plan).Force(), merging.Live(managing.Merge(plan))
	out := Change{
		Object: result.Changed && !object.Content().Equal(merged), Conflicts: plan.Conflicts(),
		Ownership: len(live.Entries) != merging.Len(result.Managers) || !sameOwners(managing.Stored(plan), result.Managers),
	}
	// What the configuration writes in another way than the live object, changed or not.
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

// sameOwners reports whether a and b own the same in the same versions.
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
