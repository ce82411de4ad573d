package ownership

import (
	"cmp"
	"slices"
	"sort"
	"strings"

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
	// item, when not nil, is told each item of a keyed list, with what the sets have there. Neither
	// the path nor the slice may be kept.
	item func(path fieldpath.Path, found []hit)

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
	member  bool          // whether it has the path of the node that the walk is at
	below   fieldpath.Set // what it has below that
}

// newOwnerWalk returns a walk of o with what each of its entries holds. What it is for, yield or
// item, is set before root.
func newOwnerWalk(o managedfields.Object, all []held) *ownerWalk {
	w := &ownerWalk{holdings: all, owners: make([]Owner, len(all)), lists: map[string][]Owner{}}
	for i, h := range all {
		e := o.Entries[h.index]
		w.owners[i] = Owner{Index: h.index, Manager: h.manager, APIVersion: e.APIVersion, Time: e.Time}
	}
	return w
}

// root walks v, all of an object and a t.
func (w *ownerWalk) root(t *schema.Type, v value.Value) {
	var at []stand
	for i, h := range w.holdings {
		if !h.fields.IsEmpty() {
			at = append(at, stand{i, h.index, false, h.fields})
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

// inside yields what is in v. own are the owners of v itself. It returns false when the walk is to
// end.
func (w *ownerWalk) inside(t *schema.Type, v value.Value, at []stand, own []Owner) bool {
	switch s := shapeOf(t, v); {
	case s == leafShape:
		return true
	// Somebody owns what is around it as a whole, or the list holds the item twice.
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

// members meets the members of an object with the sets, by name.
func (w *ownerWalk) members(m *schema.Map, v value.Value, at []stand) bool {
	hits := w.meet(at, func(e fieldpath.Element) int {
		i, found := sort.Find(v.Len(), func(i int) int { return strings.Compare(e.Name(), v.Member(i).Name) })
		if !found || e.Kind() != fieldpath.KindField {
			return -1
		}
		return i
	})
	for i := range v.Len() {
		w.nodes++
		member := v.Member(i)
		t, _ := m.Lookup(member.Name)
		if t == nil {
			t = schema.Deduced
		}
		var here []hit
		here, hits = cutPart(hits, i)
		if !w.part(fieldpath.Field(member.Name), t, member.Value, w.ownersOf(here), here, false) {
			return false
		}
	}
	return true
}

// hit is what one set has at a part, that is, at a member or item, of the node that the walk is at.
type hit struct {
	part int // its number
	stand
}

// meet returns what the sets that stand at a node have at its parts: sorted by part, and for each
// part in the order of at. partOf returns the number of the part that has an element, or -1.
//
//	at      ann: .b .d    bob: .d       parts  0 .a   1 .b   2 .c   3 .d
//	hits    1 ann         3 ann         3 bob
//
// Only what sets have is visited, never each part for each set: it costs n log n for n entries of
// all sets together, however many parts and sets there are.
func (w *ownerWalk) meet(at []stand, partOf func(fieldpath.Element) int) []hit {
	var out []hit
	for _, s := range at {
		for e := range s.below.Entries() {
			w.nodes++
			if i := partOf(e.Element); i >= 0 {
				out = append(out, hit{i, stand{s.holding, s.entry, e.Member, e.Sub}})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b hit) int { return cmp.Compare(a.part, b.part) })
	return out
}

// cutPart cuts those of part i off hits, which begin with them, if there are any.
func cutPart(hits []hit, i int) (here, rest []hit) {
	n := 0
	for n < len(hits) && hits[n].part == i {
		n++
	}
	return hits[:n:n], hits[n:]
}

// place is an item of a list with its element.
type place struct {
	element fieldpath.Element
	index   int
}

// items meets the items of a list with the sets, and then yields them in the list's order. Items
// that have one element are met once, as the first of them: they have the same owners.
func (w *ownerWalk) items(l *schema.List, v value.Value, at []stand) bool {
	places, sorted := w.places(l, v)
	hits := w.meet(at, func(e fieldpath.Element) int {
		i, found := slices.BinarySearchFunc(sorted, e, func(p place, e fieldpath.Element) int { return paths.Compare(p.element, e) })
		if !found {
			return -1
		}
		return sorted[i].index
	})
	// Which item stands for all that have its element.
	first := firstOfEach(sorted)
	owners := make([][]Owner, len(places)) // of the first with each element; the others have met nobody
	for i, p := range places {
		w.nodes++
		var here []hit
		here, hits = cutPart(hits, i)
		owners[i] = w.ownersOf(here)
		if w.item != nil && p.element.Kind() == fieldpath.KindKey && !first[i].repeated {
			w.item(append(w.path, p.element), here)
		}
		if !w.part(p.element, l.Element(), v.Item(i), owners[first[i].index], here, first[i].repeated) {
			return false
		}
	}
	return true
}

// places returns the items of v with their elements, in the list's order and sorted. Items without
// identity have their number.
func (w *ownerWalk) places(l *schema.List, v value.Value) (places, sorted []place) {
	places = make([]place, v.Len())
	for i := range places {
		element, ok := typing.ElementOf(&w.texts, l, v.Item(i))
		if !ok {
			element = fieldpath.Index(i)
		}
		places[i] = place{element, i}
	}
	sorted = slices.Clone(places)
	slices.SortStableFunc(sorted, func(a, b place) int { return paths.Compare(a.element, b.element) })
	return places, sorted
}

// standing says of an item which item is the first that has its element, and whether others have
// it, too.
type standing struct {
	index    int
	repeated bool
}

// firstOfEach returns the standing of each item, by its number.
func firstOfEach(sorted []place) []standing {
	out := make([]standing, len(sorted))
	for from := 0; from < len(sorted); {
		to := from + 1
		for to < len(sorted) && sorted[to].element == sorted[from].element {
			to++
		}
		for _, p := range sorted[from:to] {
			out[p.index] = standing{sorted[from].index, to-from > 1}
		}
		from = to
	}
	return out
}

// part yields the member or item that e leads to, and what is in it. own are its owners, and found
// is what the sets have there.
func (w *ownerWalk) part(e fieldpath.Element, t *schema.Type, v value.Value, own []Owner, found []hit, repeated bool) bool {
	w.path = append(w.path, e)
	defer func() { w.path = w.path[:len(w.path)-1] }()
	if kind, ok := partOf(e, shapeOf(t, v)); ok && !w.emit(kind, v, own) {
		return false
	}
	// What is in an item that is there twice is owned by the owners of its path: see Owned.Through.
	if repeated {
		w.through = slices.Clone(w.path)
		defer func() { w.through = nil }()
	}
	var below []stand
	for _, h := range found {
		if !h.below.IsEmpty() {
			below = append(below, h.stand)
		}
	}
	return w.inside(t, v, below, own)
}

// partOf returns what the thing at e is, and whether it is yielded: objects and lists that consist
// of their parts are not.
func partOf(e fieldpath.Element, s shape) (part string, ok bool) {
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

// emit yields the part at which the walk is. It returns false when the walk is to end.
func (w *ownerWalk) emit(part string, v value.Value, own []Owner) bool {
	if w.yield == nil {
		return true
	}
	return w.yield(Owned{Path: slices.Clone(w.path), Value: v, Part: part, Owners: own, Through: w.through})
}

// ownersOf returns the owners that have a member there. Equal lists are one slice.
func (w *ownerWalk) ownersOf(found []hit) []Owner {
	w.key = w.key[:0]
	for _, h := range found {
		if h.member {
			w.key = append(w.key, byte(h.holding), byte(h.holding>>8), byte(h.holding>>16))
		}
	}
	if len(w.key) == 0 {
		return nil
	}
	if list, ok := w.lists[string(w.key)]; ok {
		return list
	}
	list := make([]Owner, 0, len(w.key)/3)
	for _, h := range found {
		if h.member {
			list = append(list, w.owners[h.holding])
		}
	}
	w.lists[string(w.key)] = list
	return list
}
