package ownership

import (
	"slices"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/slab"
	"github.com/deed-project/deed/internal/work"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// ownerWalk walks an object and the sets of all its holdings side by side, each of them once.
type ownerWalk struct {
	yield func(Owned) bool
	// item, when not nil, is told each item of a keyed list, with what the sets have there: found[i] is of the entry at[i].
	// Neither slice nor the path may be kept.
	item func(path fieldpath.Path, at []stand, found []fieldpath.Entry)

	holdings []held
	owners   []Owner // of holdings
	path     fieldpath.Path
	through  fieldpath.Path // nil while parts have their own owners
	texts    slab.Text
	lists    map[string][]Owner // of indexes that owned the same before
	key      []byte
	nodes    int // members, items, and entries of sets that were visited
}

// stand is where one set is in the walk.
type stand struct {
	holding int           // whose set it is
	entry   int           // of that holding
	below   fieldpath.Set // what it has below the node that the walk is at
}

func newOwnerWalk(o managedfields.Object, all []held) *ownerWalk {
	w := &ownerWalk{holdings: all, owners: make([]Owner, len(all)), lists: map[string][]Owner{}}
	for i, h := range all {
		e := o.Entries[h.index]
		w.owners[i] = Owner{Index: h.index, Manager: h.manager, APIVersion: e.APIVersion, Time: e.Time}
	}
	return w
}

func (w *ownerWalk) root(t *schema.Type, v value.Value) {
	var at []stand
	for i, h := range w.holdings {
		if !h.fields.IsEmpty() {
			at = append(at, stand{i, h.index, h.fields})
		}
	}
	w.inside(t, v, at, nil)
	work.Add(work.Counts{Nodes: w.nodes})
}

// shape says how a value is owned.
type shape uint8

const (
	leafShape   shape = iota // as one, with nothing in it
	atomicShape              // as one
	objectShape              // member by member
	listShape                // item by item
)

// shapeOf returns how v, a t, is owned. A container that t does not admit is owned as one.
func shapeOf(t *schema.Type, v value.Value) shape {
	if v.Len() == 0 {
		return leafShape
	}
	if v.Kind() == value.KindObject {
		if m := t.Map(); m != nil && !m.Atomic() {
			return objectShape
		}
		return atomicShape
	}
	if l := t.List(); l != nil && (l.Topology() == schema.SetList || l.Topology() == schema.KeyedList) {
		return listShape
	}
	return atomicShape
}

// inside yields what is in v. own are the owners of v itself. It returns false when the walk is to end.
func (w *ownerWalk) inside(t *schema.Type, v value.Value, at []stand, own []Owner) bool {
	switch s := shapeOf(t, v); {
	case s == leafShape:
		return true
	case w.through != nil:
		return w.insideOwned(v, own)
	case s == atomicShape:
		w.through = slices.Clone(w.path)
		defer func() { w.through = nil }()
		return w.insideOwned(v, own)
	case s == listShape:
		return w.items(t.List(), v, at)
	}
	return w.members(t.Map(), v, at)
}

func (w *ownerWalk) members(m *schema.Map, v value.Value, at []stand) bool {
	w.nodes += v.Len()
	sets := make([]seeker, len(at))
	for i := range at {
		sets[i] = seekerOf(at[i].below)
		w.nodes += len(sets[i])
	}
	found := make([]fieldpath.Entry, len(at))
	for i := range v.Len() {
		member := v.Member(i)
		e := fieldpath.Field(member.Name)
		for j := range sets {
			found[j] = sets[j].seek(e)
		}
		t, _ := m.Lookup(member.Name)
		if t == nil {
			t = schema.Deduced
		}
		if !w.part(e, t, member.Value, at, found, false) {
			return false
		}
	}
	return true
}

// seeker is what is left of the entries of a set for who looks for elements in their order.
type seeker []fieldpath.Entry

func seekerOf(s fieldpath.Set) seeker { return slices.Collect(s.Entries()) }

// seek returns the entry of e, and an empty one when there is none. No element in front of e can be found afterwards.
func (s *seeker) seek(e fieldpath.Element) fieldpath.Entry {
	for len(*s) > 0 && paths.Compare((*s)[0].Element, e) < 0 {
		*s = (*s)[1:]
	}
	if len(*s) > 0 && (*s)[0].Element == e {
		return (*s)[0]
	}
	return fieldpath.Entry{}
}

// place is an item of a list with its element.
type place struct {
	element fieldpath.Element
	index   int
}

// items pairs the items of a list, sorted, with the sets, and then yields them in the list's order.
func (w *ownerWalk) items(l *schema.List, v value.Value, at []stand) bool {
	w.nodes += v.Len()
	sorted := make([]place, v.Len())
	for i := range sorted {
		element, ok := typing.ElementOf(&w.texts, l, v.Item(i))
		if !ok {
			element = fieldpath.Index(i)
		}
		sorted[i] = place{element, i}
	}
	byElement := func(a, b place) int { return paths.Compare(a.element, b.element) }
	elements := slices.Clone(sorted)
	slices.SortStableFunc(sorted, byElement)
	found := make([]fieldpath.Entry, len(sorted)*len(at))
	for j := range at {
		set := seekerOf(at[j].below)
		w.nodes += len(set)
		for _, p := range sorted {
			found[p.index*len(at)+j] = set.seek(p.element)
		}
	}
	repeated := make([]bool, len(sorted))
	for i := 1; i < len(sorted); i++ {
		if sorted[i].element == sorted[i-1].element {
			repeated[sorted[i].index], repeated[sorted[i-1].index] = true, true
		}
	}
	for i, p := range elements {
		here := found[i*len(at) : (i+1)*len(at)]
		if w.item != nil && p.element.Kind() == fieldpath.KindKey && !repeated[i] {
			w.item(append(w.path, p.element), at, here)
		}
		if !w.part(p.element, l.Element(), v.Item(i), at, here, repeated[i]) {
			return false
		}
	}
	return true
}

// part yields the member or item that e leads to, and what is in it. found is what each set has there.
func (w *ownerWalk) part(e fieldpath.Element, t *schema.Type, v value.Value, at []stand, found []fieldpath.Entry, repeated bool) bool {
	w.path = append(w.path, e)
	defer func() { w.path = w.path[:len(w.path)-1] }()
	own := w.ownersAt(at, found)
	if kind, ok := partOf(e, shapeOf(t, v)); ok && !w.emit(kind, v, own) {
		return false
	}
	if repeated {
		w.through = slices.Clone(w.path)
		defer func() { w.through = nil }()
	}
	var below []stand
	for i := range found {
		if !found[i].Sub.IsEmpty() {
			below = append(below, stand{at[i].holding, at[i].entry, found[i].Sub})
		}
	}
	return w.inside(t, v, below, own)
}

// partOf returns what the thing at e is, and whether it is yielded: objects and lists that consist of their parts are not.
func partOf(e fieldpath.Element, s shape) (Part, bool) {
	switch {
	case e.Kind() != fieldpath.KindField:
		return itemPart, true
	case s == leafShape:
		return leafPart, true
	}
	return atomicPart, s == atomicShape
}

// insideOwned yields the leaves in v, which is owned as a whole by own.
func (w *ownerWalk) insideOwned(v value.Value, own []Owner) bool {
	w.nodes += v.Len()
	below := func(e fieldpath.Element, v value.Value) bool {
		w.path = append(w.path, e)
		defer func() { w.path = w.path[:len(w.path)-1] }()
		if v.Len() == 0 {
			return w.emit(leafPart, v, own)
		}
		return w.insideOwned(v, own)
	}
	for name, member := range v.Members() {
		if !below(fieldpath.Field(name), member) {
			return false
		}
	}
	i := 0
	for item := range v.Items() {
		if !below(fieldpath.Index(i), item) {
			return false
		}
		i++
	}
	return true
}

func (w *ownerWalk) emit(p Part, v value.Value, own []Owner) bool {
	if w.yield == nil {
		return true
	}
	return w.yield(Owned{Path: slices.Clone(w.path), Value: v, Part: p, Owners: own, Through: w.through})
}

// ownersAt returns the owners whose sets have the path itself. Equal lists are one slice.
func (w *ownerWalk) ownersAt(at []stand, found []fieldpath.Entry) []Owner {
	w.key = w.key[:0]
	for i := range found {
		if found[i].Member {
			h := at[i].holding
			w.key = append(w.key, byte(h), byte(h>>8), byte(h>>16))
		}
	}
	if len(w.key) == 0 {
		return nil
	}
	if list, ok := w.lists[string(w.key)]; ok {
		return list
	}
	list := make([]Owner, 0, len(w.key)/3)
	for i := range found {
		if found[i].Member {
			list = append(list, w.owners[at[i].holding])
		}
	}
	w.lists[string(w.key)] = list
	return list
}
