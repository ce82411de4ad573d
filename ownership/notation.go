package ownership

import (
	"slices"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/slab"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// notations finds values that mean the same but are written in different ways. It walks two values
// in step. Each difference is a notation or another difference. One other difference means that the
// object really changes:
//
//	live      {cpu: "1",     port: 80, tags: [a, b]}
//	wanted    {cpu: "1000m", port: 81, tags: [b, a]}
//
//	cpu       quantity    where the type leaves the kind of scalar open
//	port      another difference
//	tags      order       where tags is a set
//
// Cost: linear in both values. Items with identity are found by hashing.

// notations is a walk of two values of one type. It collects notations, and notes whether the
// values differ otherwise.
type notations struct {
	partial bool // members and items that only live has are no difference

	path  fieldpath.Path
	texts slab.Text
	found []Notation
	other bool
}

// add records that the two values at the current path are notations of one value.
func (n *notations) add(kind string, live, wanted value.Value) {
	n.found = append(n.found, Notation{Path: slices.Clone(n.path), Kind: kind, Live: live, Wanted: wanted})
}

// below compares two values at e, one step below the current path.
func (n *notations) below(e fieldpath.Element, t *schema.Type, live, wanted value.Value) {
	n.path = append(n.path, e)
	n.node(t, live, wanted)
	n.path = n.path[:len(n.path)-1]
}

// node compares two values of type t. Neither may be absent.
func (n *notations) node(t *schema.Type, live, wanted value.Value) {
	if live.Same(wanted) {
		return
	}
	if t == nil {
		t = schema.Deduced
	}
	switch {
	case live.Kind() == value.KindObject && wanted.Kind() == value.KindObject:
		n.objects(t, live, wanted)
	case live.Kind() == value.KindList && wanted.Kind() == value.KindList:
		if shapeOf(t, live) == listShape && shapeOf(t, wanted) == listShape {
			n.items(t.List(), live, wanted)
		} else {
			n.places(t.List(), live, wanted)
		}
	default:
		n.scalars(t, live, wanted)
	}
}

// scalars compares two values that are not both objects and not both lists.
func (n *notations) scalars(t *schema.Type, live, wanted value.Value) {
	if live.Equal(wanted) {
		if live.Kind() != wanted.Kind() {
			n.add("number", live, wanted)
		}
		return
	}
	if t.Scalar() != schema.Untyped {
		n.other = true
		return
	}
	a, isA := quantityOf(live)
	b, isB := quantityOf(wanted)
	if !isA || !isB || a.Cmp(b) != 0 {
		n.other = true
		return
	}
	kind := "quantity"
	if isInteger(live) && isInteger(wanted) {
		kind = "string"
	}
	n.add(kind, live, wanted)
}

// isInteger reports whether v is an integer, or a string that is the decimal notation of one.
func isInteger(v value.Value) bool {
	if v.Kind() != value.KindString {
		return v.Kind() == value.KindInt
	}
	parsed, err := value.Parse([]byte(v.Str()))
	return err == nil && parsed.Kind() == value.KindInt && parsed.String() == v.Str()
}

// objects compares the members of wanted. Members that only live has are a difference in an atomic
// object. In other objects, they are a difference unless wanted is a configuration.
func (n *notations) objects(t *schema.Type, live, wanted value.Value) {
	atomic := t.Map() == nil || t.Map().Atomic()
	shared := 0
	for name, member := range wanted.Members() {
		former := live.Get(name)
		if former.IsAbsent() {
			n.other = true
			continue
		}
		shared++
		var below *schema.Type
		if t.Map() != nil {
			below, _ = t.Map().Lookup(name)
		}
		n.below(fieldpath.Field(name), below, former, member)
	}
	if (atomic || !n.partial) && shared < live.Len() {
		n.other = true
	}
}

// places compares the items of lists that are owned as a whole, index by index.
func (n *notations) places(l *schema.List, live, wanted value.Value) {
	if live.Len() != wanted.Len() {
		n.other = true
		return
	}
	var below *schema.Type
	if l != nil {
		below = l.Element()
	}
	for i := range live.Len() {
		n.below(fieldpath.Index(i), below, live.Item(i), wanted.Item(i))
	}
}

// items compares the items of sets and keyed lists by their elements. Lists that hold an item
// twice, or an item without identity, are compared as they are.
func (n *notations) items(l *schema.List, live, wanted value.Value) {
	before, ok := n.placesOf(l, live)
	if _, ok2 := n.placesOf(l, wanted); !ok || !ok2 {
		n.other = n.other || !live.Equal(wanted)
		return
	}
	common, last, reordered := 0, -1, false
	for i := range wanted.Len() {
		element, _ := typing.ElementOf(&n.texts, l, wanted.Item(i))
		j, found := before[element]
		if !found {
			n.other = true
			continue
		}
		common++
		reordered = reordered || j < last
		last = j
		n.below(element, l.Element(), live.Item(j), wanted.Item(i))
	}
	if !n.partial && common < live.Len() {
		n.other = true
	}
	if reordered {
		n.add("order", live, wanted)
	}
}

// placesOf returns the index of each item. It returns false unless each item has its own identity.
func (n *notations) placesOf(l *schema.List, v value.Value) (map[fieldpath.Element]int, bool) {
	out := make(map[fieldpath.Element]int, v.Len())
	for i := range v.Len() {
		element, ok := typing.ElementOf(&n.texts, l, v.Item(i))
		if _, twice := out[element]; !ok || twice {
			return nil, false
		}
		out[element] = i
	}
	return out, true
}
