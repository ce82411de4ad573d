package ownership

import (
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

// The walk goes through an object and the sets of its entries side by side. A stand is the position
// of one set in the walk. It goes down with the walk while the set has members there. The manager
// of a set owns each part whose path is a member. In this example, ports is keyed by port, and args
// is atomic:
//
//	object  {args: [-a, -b]  ports: [{port: 80}]}
//	ann     .args .ports[port=80].port
//	bob     .args .ports[port=80]
//
//	part                     stands below     yielded
//	.args                    none             atomic   ann bob
//	.args[0] .args[1]        none             leaf     ann bob, through .args
//	.ports                   ann bob          no: its items are owned one by one
//	.ports[port=80]          ann              item     bob
//	.ports[port=80].port     none             leaf     ann
//
// Invariants, at each node:
//
//	path leads from the root to the node
//	through is nil, or the beginning of path up to the atomic value or repeated item around the node
//	each holding has at most one stand, and no stand if it has nothing below the node
//
// Cost: linear in the object, and n log n for the n entries of all sets together.

// ownerWalk walks an object and the sets of all its holdings side by side, each of them once.
type ownerWalk struct {
	yield func(Owned) bool
	// item, if not nil, is called for each item of a keyed list that the list holds once, with the
	// hits of the sets there. It must keep neither the path nor the slice.
	item func(path fieldpath.Path, found []hit)

	holdings []held
	owners   []Owner // owners[i] is the owner of holdings[i]
	path     fieldpath.Path
	through  fieldpath.Path // a beginning of path; nil while parts have their own owners
	texts    slab.Text
	lists    map[string][]Owner // lists of owners that were made before, by key
	key      []byte
	nodes    int // number of members, items, and entries of sets that were visited
}

// stand is the position of one set in the walk.
type stand struct {
	holding int           // index of the holding that has the set
	entry   int           // index of the entry of that holding
	member  bool          // whether the set has the path of the current node
	below   fieldpath.Set // the members of the set below that path
}

// newOwnerWalk returns a walk of o with the holdings of its entries. The caller sets yield or item
// before it calls root.
func newOwnerWalk(o managedfields.Object, all []held) *ownerWalk {
	w := &ownerWalk{holdings: all, owners: make([]Owner, len(all)), lists: map[string][]Owner{}}
	for i, h := range all {
		e := o.Entries[h.index]
		w.owners[i] = Owner{Index: h.index, Manager: h.manager, APIVersion: e.APIVersion, Time: e.Time}
	}
	return w
}

// root walks v, which is the whole object and a value of type t.
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
	leafShape   shape = iota // as a whole, without content
	atomicShape              // as a whole
	objectShape              // member by member
	listShape                // item by item
)

// shapeOf returns how v, a value of type t, is owned. A container that t does not admit is owned as
// a whole.
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

// inside yields the content of v. own are the owners of v itself. It returns false if the walk must
// end.
func (w *ownerWalk) inside(t *schema.Type, v value.Value, at []stand, own []Owner) bool {
	switch s := shapeOf(t, v); {
	// v has no content.
	case s == leafShape:
		return true
	// v is inside an atomic value or a repeated item.
	case w.through != nil:
		return w.insideOwned(v, own)
	// v is atomic: its content is owned through it.
	case s == atomicShape:
		w.through = w.path
		defer func() { w.through = nil }()
		return w.insideOwned(v, own)
	// v is owned part by part.
	case s == listShape:
		return w.items(t.List(), v, at)
	}
	return w.members(t.Map(), v, at)
}

// members finds the hits of the sets at the members of an object, by name, and yields the members.
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
		// A member that the type does not declare has no schema.
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

// hit is the stand of one set at a part of the current node. A part is a member or an item.
type hit struct {
	part int // its index
	stand
}

// meet returns the hits of the sets at the parts of a node. They are sorted by part, and for each
// part in the order of at. partOf returns the index of the part that has an element, or -1.
//
//	at      ann: .b .d    bob: .d       parts  0 .a   1 .b   2 .c   3 .d
//	hits    1 ann         3 ann         3 bob
//
// meet visits only the entries of sets, and not each part for each set. Cost: n log n for n entries
// of all sets together, for any number of parts and sets.
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
	return byPart(out)
}

// byPart returns hits sorted by part. Hits at one part keep their order.
func byPart(hits []hit) []hit {
	order := make([]uint64, len(hits)) // the part, and then the index in hits
	for i, h := range hits {
		order[i] = uint64(h.part)<<32 | uint64(i)
	}
	slices.Sort(order)
	out := make([]hit, len(hits))
	for i, key := range order {
		out[i] = hits[uint32(key)]
	}
	return out
}

// cutPart returns the hits of part i, which are the first of hits if there are any, and the rest.
func cutPart(hits []hit, i int) (here, rest []hit) {
	n := 0
	for n < len(hits) && hits[n].part == i {
		n++
	}
	return hits[:n:n], hits[n:]
}

// part yields the member or item at e, and its content. own are its owners, and found are the hits
// of the sets there.
func (w *ownerWalk) part(e fieldpath.Element, t *schema.Type, v value.Value, own []Owner, found []hit, repeated bool) bool {
	w.path = append(w.path, e)
	defer func() { w.path = w.path[:len(w.path)-1] }()
	if kind, ok := partOf(e, shapeOf(t, v)); ok && !w.emit(kind, v, own) {
		return false
	}
	// The owners of a repeated item own its content: see Owned.Through.
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

// partOf returns the kind of the part at e, and whether it is yielded. Objects and lists that are
// owned part by part are not.
func partOf(e fieldpath.Element, s shape) (part string, ok bool) {
	switch {
	case e.Kind() != fieldpath.KindField:
		return itemPart, true
	case s == leafShape:
		return leafPart, true
	}
	return atomicPart, s == atomicShape
}

// insideOwned yields the leaves in v. own are the owners of v as a whole.
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

// emit yields the current part. It returns false if the walk must end.
func (w *ownerWalk) emit(part string, v value.Value, own []Owner) bool {
	if w.yield == nil {
		return true
	}
	return w.yield(Owned{Path: slices.Clone(w.path), Value: v, Part: part, Owners: own, Through: slices.Clone(w.through)})
}

// ownersOf returns the owners of the hits that are members. Equal lists are one slice, because most
// parts of an object have the same few owners. The key of a list is the indexes of its holdings,
// three bytes each.
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
