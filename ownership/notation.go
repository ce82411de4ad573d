package ownership

import (
	"slices"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/slab"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Finding where two values mean the same but are written in different ways. Both are walked in
// step; a difference is a notation or another one, and one of the others is enough to say that the
// object really changes:
//
//	live      {cpu: "1",     port: 80, tags: [a, b]}
//	wanted    {cpu: "1000m", port: 81, tags: [b, a]}
//
//	cpu       quantity    where the type leaves the kind of scalar open
//	port      another difference
//	tags      order       where tags is a set
//
// Cost: linear in both values, by hashing where items are told apart.

// notations finds where two values of one type are written in different ways, and whether they
// differ otherwise.
type notations struct {
	partial bool // what only live has is no difference

	path  fieldpath.Path
	texts slab.Text
	found []Notation
	other bool
}

// add records that the values at the path where the walk is are two notations of one.
func (n *notations) add(kind string, live, wanted value.Value) {
	n.found = append(n.found, Notation{Path: slices.Clone(n.path), Kind: kind, Live: live, Wanted: wanted})
}

// below compares two values that are one step below.
func (n *notations) below(e fieldpath.Element, t *schema.Type, live, wanted value.Value) {
	n.path = append(n.path, e)
	n.node(t, live, wanted)
	n.path = n.path[:len(n.path)-1]
}

// node compares two values of type t, neither of which is absent.
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

// scalars compares two values of which at least one is a scalar or null, or that differ in kind.
func (n *notations) scalars(t *schema.Type, live, wanted value.Value) {
	if live.Equal(wanted) {
		if live.Kind() != wanted.Kind() {
			n.add("number", live, wanted)
		}
		return
	}
	a, isA := quantityOf(live)
	b, isB := quantityOf(wanted)
	if t.Scalar() != schema.Untyped || !isA || !isB || a.Cmp(b) != 0 {
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

// objects compares the members that wanted has. Those that only live has are a difference in an
// atomic object, and in every object unless wanted is a configuration.
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

// places compares the items of lists that are owned as a whole, place by place.
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

// items compares the items of lists that are told apart. Lists that hold one twice, or one without
// identity, are compared as they stand.
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

// placesOf returns where each item stands, and false unless every item has an identity of its own.
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
