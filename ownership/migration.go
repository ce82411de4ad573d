package ownership

import (
	"errors"
	"slices"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// PlanMigration predicts a migration: the new entries, the applier's next apply with its conflicts,
// and the leftovers of that apply. A leftover is a part of the object that the applier will own,
// but its configuration lacks:
//
//	no other owner     the next apply removes it    Removed
//	other owners       it stays with these          Kept

// Migration has the effects of a migration from client-side to server-side apply.
type Migration struct {
	Object    managedfields.Object // the live object with its entries migrated
	Patch     []byte               // see [EntriesPatch]; nil if there is nothing to migrate
	Guarded   bool                 // whether the server refuses Patch once the object has changed
	Conflicts merge.Conflicts      // of the applier's next apply
	Removed   []Leftover           // values that the next apply removes
	Kept      []Leftover           // values that stay in the object although the configuration lacks them
	LostOwner bool                 // whether the live object [HasLostOwners]; then it is better not to migrate
}

// Leftover is a live value that the migrated managers owned and that the configuration lacks.
type Leftover struct {
	Path   fieldpath.Path
	Live   value.Value
	Owners []merge.Manager // the owners besides the applier: of a removed value, after the migration; of a kept value, after the apply
}

// PlanMigration predicts [Migrate]. from has the names of updaters, and to is the name of the
// applier. It also predicts the effects of the applier's next apply of config, with conflicts
// forced, on values that config lacks.
//
// PlanMigration checks all values that the updaters and the applier own before the migration:
// leaves, list items, and atomic lists and objects as a whole. A value is removed if only the
// applier owns it after the migration. It is kept if another manager owns it. Entries of versions
// that are gone own nothing, as in a write.
//
// Errors are those of Migrate and of [managedfields.FieldManager.Plan].
func PlanMigration(m *managedfields.FieldManager, live, config managedfields.Object, from []string, to string) (*Migration, error) {
	if err := managing.Check(m); err != nil {
		return nil, err
	}
	c := managing.Config(m)
	entries, err := Migrate(live, &Versions{c.Types, c.Converter}, from, to, c.Subresource)
	if err != nil {
		return nil, err
	}
	out := &Migration{Object: managedfields.Object{Content: live.Content, Entries: entries}, LostOwner: HasLostOwners(live)}
	if out.Patch, out.Guarded, err = EntriesPatch(live, entries); err != nil {
		return nil, err
	}
	plan, err := m.Plan(out.Object, config, to)
	if err != nil {
		return nil, err
	}
	out.Conflicts = plan.Conflicts()
	return out, out.addLeftovers(c, managing.Merge(plan), live.Entries, from, to)
}

// addLeftovers finds the values that the next apply removes and keeps. It costs one [typed.Walk]
// along all fields that the applier and the updaters own.
func (out *Migration) addLeftovers(
	c managedfields.Config, plan *merge.Plan, entries []managedfields.Entry, from []string, to string,
) error {
	object, after := merging.Live(plan), plan.Force()
	applier := merge.Manager{Name: to, Operation: merge.Apply, Subresource: c.Subresource}
	held, err := heldBy(c, managedfields.Object{Content: object.Content(), Entries: entries}, append([]string{to}, from...))
	if err != nil {
		return err
	}
	sets, owners, err := othersOf(c, out.Object, applier)
	if err != nil {
		return err
	}
	stored := managedfields.Object{Content: after.Object.Content(), Entries: managedfields.Encode(after.Managers)}
	setsAfter, ownersAfter, err := othersOf(c, stored, applier)
	if err != nil {
		return err
	}
	values := []typed.Value{object, merging.Config(plan), after.Object}
	for at := range typed.Walk(held, values, append(sets, setsAfter...)...) {
		live, wanted, result := at.Values[0], at.Values[1], at.Values[2]
		if live.IsAbsent() || !wanted.IsAbsent() || !isPart(object.Type(), at.Path, live) {
			continue
		}
		l := Leftover{Path: slices.Clone(at.Path), Live: live}
		for _, n := range at.Sets {
			switch removed := result.IsAbsent(); {
			case removed && n < len(sets):
				l.Owners = append(l.Owners, owners[n])
			case !removed && n >= len(sets):
				l.Owners = append(l.Owners, ownersAfter[n-len(sets)])
			}
		}
		if result.IsAbsent() {
			out.Removed = append(out.Removed, l)
		} else {
			out.Kept = append(out.Kept, l)
		}
	}
	return nil
}

// othersOf returns the fields of o that each manager except but owns, in the endpoint's version,
// and these managers. Entries of versions that are gone own nothing.
func othersOf(c managedfields.Config, o managedfields.Object, but merge.Manager) (sets []fieldpath.Set, owners []merge.Manager, _ error) {
	for _, h := range holdings(o, c.Types[c.GVK.APIVersion()], &Versions{c.Types, c.Converter}) {
		if h.err != nil && !errors.Is(h.err, merge.ErrNoVersion) {
			return nil, nil, h.err
		}
		if h.manager != but {
			sets, owners = append(sets, h.fields), append(owners, h.manager)
		}
	}
	return sets, owners, nil
}

// heldBy returns the fields of o that the applier names[0] and the updaters in names own, in the
// endpoint's version. Entries of versions that are gone own nothing.
func heldBy(c managedfields.Config, o managedfields.Object, names []string) (fieldpath.Set, error) {
	var all fieldpath.Set
	for _, h := range holdings(o, c.Types[c.GVK.APIVersion()], &Versions{c.Types, c.Converter}) {
		if h.manager.Subresource != c.Subresource ||
			h.manager.Operation == merge.Apply && h.manager.Name != names[0] || !slices.Contains(names, h.manager.Name) {
			continue
		}
		if h.err != nil && !errors.Is(h.err, merge.ErrNoVersion) {
			return all, h.err
		}
		all = all.Union(h.fields)
	}
	return all, nil
}

// isPart reports whether v, at path in a value of type t, is a part as in [Owned]: a leaf, an item,
// or an atomic list or object.
func isPart(t *schema.Type, path fieldpath.Path, v value.Value) bool {
	for _, e := range path {
		if t = typeBelow(t, e); t == nil {
			return true
		}
	}
	_, ok := partOf(path[len(path)-1], shapeOf(t, v))
	return ok
}
