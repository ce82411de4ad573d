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

// Walking an object beside what its entries hold. Each set stands at the node that the walk is at,
// and goes down with it where it has something below; who has the path of a part as a member owns
// the part. Of a type in which ports is keyed by port, and args atomic:
//
//	object  {args: [-a, -b]  ports: [{port: 80}]}
//	ann     .args .ports[port=80].port
//	bob     .args .ports[port=80]
//
//	part                     stand below it   yielded
//	.args                    none             atomic   ann bob
//	.args[0] .args[1]        none             leaf     ann bob, through .args
//	.ports                   ann bob          no: its items are owned one by one
//	.ports[port=80]          ann              item     bob
//	.ports[port=80].port     none             leaf     ann
//
// Invariants, at each node:
//
//	path leads from the root to the node
//	through is nil, or a beginning of path: the whole, or the repeated item, that the node is inside of
//	each holding is in at most one stand; of those that have nothing below the node, none is
//
// Cost: linear in the object, and n log n for the n entries of all sets together.

// ownerWalk walks an object and the sets of all its holdings side by side, each of them once.
type ownerWalk struct {
	yield func(Owned) bool
	// item, when not nil, is told each item of a keyed list, with what the sets have there. Neither
	// the path nor the slice may be kept.
	item func(path fieldpath.Path, found []hit)

	holdings []held
	owners   []Owner // of holdings
	path     fieldpath.Path
	through  fieldpath.Path // a beginning of path; nil while parts have their own owners
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
	// There is nothing in it.
	case s == leafShape:
		return true
	// What is around it is owned as a whole, or the list holds the item twice.
	case w.through != nil:
		return w.insideOwned(v, own)
	// It is owned as a whole itself, and what is in it through it.
	case s == atomicShape:
		w.through = w.path
		defer func() { w.through = nil }()
		return w.insideOwned(v, own)
	// It is owned part by part.
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
		// A member that the type does not declare is of no schema.
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
		w.through = w.path
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
	return w.yield(Owned{Path: slices.Clone(w.path), Value: v, Part: part, Owners: own, Through: slices.Clone(w.through)})
}

// ownersOf returns the owners that have a member there. Equal lists are one slice: most parts of an
// object have the same few owners, so their lists are found by the numbers of the holdings, three
// bytes each.
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
