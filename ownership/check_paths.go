package ownership

import (
	"fmt"
	"slices"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/work"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
)

// Findings about the paths of entries: paths that the schema lacks, paths that the object lacks,
// and list items in which a manager owns only the keys. In this example, args has become atomic,
// the schema no longer has size, and the object has no paused:
//
//	owned         code
//	.spec.args[0] stale-path
//	.spec.size    undeclared-path
//	.spec.paused  absent-path

// checkPaths finds the paths of one entry that lead nowhere. Of several paths below each other, it
// reports only the first. It costs one [typed.Walk] along the entry's set.
func (k *checker) checkPaths(h held) {
	apiVersion := k.object.Entries[h.index].APIVersion
	v := pathCheck{checker: k, entry: h.index}
	v.declared(k.config.Versions.Types[apiVersion], h.written)
	work.Add(work.Counts{Nodes: v.nodes})
	object, err := k.inVersion(apiVersion)
	if err != nil {
		k.addOnce(invalidObject, err)
		return
	}
	v.present(object, h.written.Without(fieldpath.SetOf(v.nowhere...)))
}

// addOnce records a finding about the object as a whole, unless there is one with that code.
func (k *checker) addOnce(c Code, err error) {
	if !slices.ContainsFunc(k.found, func(f Finding) bool { return f.Code == c }) {
		k.addError(c, -1, err, "Every apply fails, and paths cannot be compared with the object. Repair the object or its schema.")
	}
}

// pathCheck is the state of checkPaths for one entry. path is the current path.
type pathCheck struct {
	*checker
	entry   int
	path    fieldpath.Path
	nowhere []fieldpath.Path // the paths that declared has reported
	nodes   int              // number of entries of the set that were visited
}

// declared reports the paths in s that t does not declare. s has the paths below a node of type t.
func (v *pathCheck) declared(t *schema.Type, s fieldpath.Set) {
	if schemas.AdmitsAnything(t) {
		return
	}
	for e := range s.Entries() {
		v.nodes++
		v.path = append(v.path, e.Element)
		switch below := typeBelow(t, e.Element); {
		case isAtomic(t) && len(v.path) > 1:
			v.lost(stalePath, "the schema has made the enclosing value atomic",
				"None needed: the next write gives the manager the list or object as a whole.")
		case below == nil:
			v.lost(undeclaredPath, "the schema has no such field",
				"The field may belong to an older or newer schema. Only a write of the whole object can remove it.")
		default:
			v.declared(below, e.Sub)
		}
		v.path = v.path[:len(v.path)-1]
	}
}

// isAtomic reports whether all values of type t that are not empty are owned as a whole.
func isAtomic(t *schema.Type) bool {
	m, l := t.Map(), t.List()
	return (m != nil || l != nil) && (m == nil || m.Atomic()) && (l == nil || l.Topology() == schema.AtomicList)
}

// lost records that the current path leads nowhere.
func (v *pathCheck) lost(c Code, detail, remedy string) {
	path := slices.Clone(v.path)
	v.nowhere = append(v.nowhere, path)
	v.add(c, v.entry, path, detail, remedy)
}

// present reports the members of s that object lacks.
func (v *pathCheck) present(object typed.Value, s fieldpath.Set) {
	var absent []fieldpath.Path
	for at := range typed.Walk(s, []typed.Value{object}) {
		if at.Values[0].IsAbsent() {
			absent = append(absent, slices.Clone(at.Path))
		}
	}
	slices.SortStableFunc(absent, comparePaths) // each path comes before the paths below it
	var last fieldpath.Path
	for _, path := range absent {
		if last == nil || len(path) < len(last) || !slices.Equal(path[:len(last)], last) {
			v.add(absentPath, v.entry, path, "the object has no such field",
				"Harmless until another manager adds the field, which conflicts with this manager. Let the manager write again.")
			last = path
		}
	}
}

// comparePaths orders paths by their elements. A path sorts before the paths below it.
func comparePaths(a, b fieldpath.Path) int { return slices.CompareFunc(a, b, paths.Compare) }

// checkItem reports managers that own an item and at most its keys, while other managers own the
// rest. When the others give up the item, only its keys are left.
func (k *checker) checkItem(path fieldpath.Path, found []hit) {
	keys := keysOf(path[len(path)-1])
	hasMore := func(h hit) bool { return !h.below.Without(keys).IsEmpty() }
	other := slices.IndexFunc(found, hasMore)
	if other < 0 {
		return
	}
	for _, h := range found {
		if h.member && !hasMore(h) {
			k.add(orphanItem, h.entry, slices.Clone(path), fmt.Sprintf(
				"the manager owns nothing of the item but its keys; others, such as %q, own the rest", k.object.Entries[found[other].entry].Manager),
				"When the others give up the item, only its keys are left, which is often invalid. Let the manager give it up, or transfer it.")
		}
	}
}

// keysOf returns the paths of the keys in e.
func keysOf(e fieldpath.Element) fieldpath.Set {
	var b fieldpath.Builder
	for _, f := range e.Fields() {
		paths.Leaf(&b, fieldpath.Field(f.Name))
	}
	return b.Set()
}
