package merge

import (
	"slices"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/typed"
)

// The losses of other managers by a write. Conflicts, decisions and the new managers are all
// derived from these losses.

// loss holds the fields that a manager loses by a write.
type loss struct {
	entry   *Entry
	version *version
	taken   fieldpath.Set // fields that the writer changes: conflicts, if the write is an apply
	removed fieldpath.Set // fields that the object loses
}

// losses returns the loss of each manager except the writer, in the order of managers. It leaves
// out managers that lose nothing. It also makes c.versions[0]. In this example, a write changes .a
// and .b and removes .c, in v1 and in v2, and v0 is gone:
//
//	ann  v1  .a .c    taken .a      removed .c
//	bob  v2  .d       left out
//	eve  v0  .e       taken none    removed .e, all her fields
//
// Invariants, of each loss l of a version that is not gone:
//
//	l.taken = l.entry.Fields intersected with l.version.changed; for c.former, with c.unowned as well
//	l.removed = l.entry.Fields intersected with l.version.diff.Removed
//	l.taken and l.removed are not both empty
//
// Few managers, or few changes, are intersected one by one. Otherwise, the managers of one version
// are intersected together, in one walk of the changes. So the cost grows with the fields of all
// managers together, and with the changes.
func (c *call) losses(managers Managers) ([]loss, error) {
	if _, err := c.seen(c.APIVersion); err != nil {
		return nil, err
	}
	var owners map[*version][]fieldpath.Set // when there are many
	if len(managers.entries) > few {
		owners = map[*version][]fieldpath.Set{}
	}
	for i := range managers.entries {
		entry := &managers.entries[i]
		if entry.Manager == c.Manager {
			continue
		}
		v, err := c.seen(entry.APIVersion)
		if err != nil {
			return nil, err
		}
		if owners != nil && v.manyChanges {
			owners[v] = append(owners[v], entry.Fields)
		}
	}
	for v, fields := range owners {
		v.taken, v.removed = intersections(v.changed, fields), intersections(v.diff.Removed, fields)
	}
	var out []loss
	for i := range managers.entries {
		if managers.entries[i].Manager == c.Manager {
			continue
		}
		if l := c.loss(&managers.entries[i]); !l.taken.IsEmpty() || !l.removed.IsEmpty() {
			out = append(out, l)
		}
	}
	return out, nil
}

// few is the largest number of managers, or of changed fields, for which each manager's set is
// intersected with the changes by itself.
const few = 32

// loss returns the loss of the manager of entry, in a version that was seen. The caller must call
// it for each manager in turn.
func (c *call) loss(entry *Entry) loss {
	v, _ := c.seen(entry.APIVersion)
	l, spared := loss{entry: entry, version: v}, entry.Manager == c.former
	switch {
	case v.gone:
		l.removed = entry.Fields
	case v.taken != nil: // computed for all managers at once
		l.taken, v.taken = v.taken[0], v.taken[1:]
		l.removed, v.removed = v.removed[0], v.removed[1:]
		if spared {
			l.taken = l.taken.Intersect(c.unowned)
		}
	case spared:
		l.taken, l.removed = entry.Fields.Intersect(v.changed.Intersect(c.unowned)), entry.Fields.Intersect(v.diff.Removed)
	default:
		l.taken, l.removed = entry.Fields.Intersect(v.changed), entry.Fields.Intersect(v.diff.Removed)
	}
	return l
}

// intersections returns the intersection of s with each set of owned. It walks s once, in step with
// all of them, so the cost grows with s and with all of owned together.
func intersections(s fieldpath.Set, owned []fieldpath.Set) []fieldpath.Set {
	out := make([]fieldpath.Set, len(owned))
	builders := map[int]*fieldpath.Builder{}
	for at := range typed.Walk(s, nil, owned...) {
		for _, i := range at.Sets {
			if builders[i] == nil {
				builders[i] = new(fieldpath.Builder)
			}
			builders[i].Add(at.Path)
		}
	}
	for i, b := range builders {
		out[i] = b.Set()
	}
	return out
}

// union returns the union of sets. It unites them in pairs, and then the results, so that each path
// is copied about log2 n times for n sets.
func union(sets []fieldpath.Set) fieldpath.Set {
	switch n := len(sets); n {
	case 0:
		return fieldpath.Set{}
	case 1:
		return sets[0]
	default:
		return union(sets[:n/2]).Union(union(sets[n/2:]))
	}
}

// settle returns managers after losses, with own as the entry of the writer. By O4, it leaves out
// managers without fields. Invariant, while it goes through managers: losses[0], if it exists,
// belongs to this manager or to a later one.
func settle(managers Managers, losses []loss, own Entry) Managers {
	out := make([]Entry, 0, len(managers.entries)+1)
	for i := range managers.entries {
		entry := &managers.entries[i]
		fields := entry.Fields
		if len(losses) > 0 && losses[0].entry.Manager == entry.Manager {
			fields = fields.Minus(losses[0].taken).Minus(losses[0].removed)
			losses = losses[1:]
		}
		if entry.Manager != own.Manager && !fields.IsEmpty() {
			out = append(out, *entry)
			out[len(out)-1].Fields = fields
		}
	}
	if !own.Fields.IsEmpty() {
		i, _ := Managers{out}.search(own.Manager)
		out = slices.Insert(out, i, own)
	}
	return Managers{out}
}
