package gitops

import (
	"slices"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Differences between two objects of a type, found in one walk. Items of sets and keyed lists are paired by identity, wherever they
// stand. An atomic value is one value:
//
//	before  ports: [{port: 80, name: a}, {port: 81}]
//	after   ports: [{port: 81}, {port: 80, name: b}]
//	change  .ports[port=80].name: "a" -> "b"

// Change is a field that differs.
type Change struct {
	Path fieldpath.Path
	// Before is the live value, and After is the value after the apply. An absent value means that the field is added or removed. If only
	// the order of a set or keyed list changes, the change has the whole list.
	Before, After value.Value
}

// bookkeeping are the members of metadata that a server writes by itself.
var bookkeeping = []string{"creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"}

// changes returns the differences between two states of the object.
func (r *Result) changes(before, after value.Value) []Change {
	w := walk{}
	w.members(r.kind, before, after, nil)
	return slices.DeleteFunc(w.found, func(c Change) bool {
		switch first := c.Path[0].Name(); {
		case len(c.Path) == 1:
			return first == "apiVersion" || first == "kind" || r.Creates && first == "status"
		case len(c.Path) == 2 && first == "metadata":
			second := c.Path[1].Name()
			return slices.Contains(bookkeeping, second) || r.Creates && (second == "name" || second == "namespace")
		}
		return false
	})
}

// walk gathers changes.
type walk struct{ found []Change }

// node compares two values of type t. t is nil for a field that the schema lacks.
func (w *walk) node(t *schema.Type, before, after value.Value, path fieldpath.Path) {
	if t == nil {
		t = schema.Deduced
	}
	switch {
	case before.Same(after):
	case before.Kind() == value.KindObject && after.Kind() == value.KindObject && t.Map() != nil && !t.Map().Atomic():
		w.members(t, before, after, path)
	case before.Kind() == value.KindList && after.Kind() == value.KindList && w.items(t.List(), before, after, path):
	case !before.Equal(after):
		w.found = append(w.found, Change{slices.Clone(path), before, after})
	}
}

// members compares the members of two objects of type t. An absent object has none. Metadata is granular even without a schema.
func (w *walk) members(t *schema.Type, before, after value.Value, path fieldpath.Path) {
	for name, pair := range union(before, after) {
		inner, _ := t.Map().Lookup(name)
		if len(path) == 0 && name == "metadata" {
			pair = [2]value.Value{objectOr(pair[0]), objectOr(pair[1])}
		}
		w.node(inner, pair[0], pair[1], append(path, fieldpath.Field(name)))
	}
}

// objectOr returns v, or an object without members if v is absent.
func objectOr(v value.Value) value.Value {
	if v.IsAbsent() {
		return value.Object()
	}
	return v
}

// union yields the members of two objects by their names, in order.
func union(a, b value.Value) func(yield func(string, [2]value.Value) bool) {
	return func(yield func(string, [2]value.Value) bool) {
		for i, j := 0, 0; i < a.Len() || j < b.Len(); {
			x, y := a.Member(i), b.Member(j)
			switch {
			case j >= b.Len() || i < a.Len() && x.Name < y.Name:
				y = value.Member{Name: x.Name}
				i++
			case i >= a.Len() || y.Name < x.Name:
				x = value.Member{Name: y.Name}
				j++
			default:
				i, j = i+1, j+1
			}
			if !yield(x.Name, [2]value.Value{x.Value, y.Value}) {
				return
			}
		}
	}
}

// items compares the items of two lists. It returns false for a list that is one value, or that holds an item twice.
func (w *walk) items(l *schema.List, before, after value.Value, path fieldpath.Path) bool {
	if before.Len() == after.Len() && l.Topology() == schema.KeyedList { // most often the items keep their places
		elements, aligned := make([]fieldpath.Element, before.Len()), true
		for i := range elements {
			e, ok := elementOf(l, before.Item(i))
			if !before.Item(i).Same(after.Item(i)) {
				other, okToo := elementOf(l, after.Item(i))
				aligned = aligned && okToo && e == other
			}
			elements[i], aligned = e, aligned && ok
		}
		if aligned {
			for i, e := range elements {
				w.node(l.Element(), before.Item(i), after.Item(i), append(path, e))
			}
			return true
		}
	}
	was, ok := placesIn(l, before)
	is, okToo := placesIn(l, after)
	if !ok || !okToo {
		return false
	}
	found := len(w.found)
	last, reordered := -1, false
	for i, e := range was.elements {
		at, there := is.at[e]
		item := value.Value{}
		if there {
			item = after.Item(at)
			reordered = reordered || at < last
			last = at
		}
		w.node(l.Element(), before.Item(i), item, append(path, e))
	}
	for i, e := range is.elements {
		if _, there := was.at[e]; !there {
			w.node(l.Element(), value.Value{}, after.Item(i), append(path, e))
		}
	}
	if reordered && found == len(w.found) {
		w.found = append(w.found, Change{slices.Clone(path), before, after})
	}
	return true
}

// places holds the identities of the items of a list, and their places.
type places struct {
	elements []fieldpath.Element
	at       map[fieldpath.Element]int
}

// placesIn returns the places of the items of list. It returns false unless each item has its own identity.
func placesIn(l *schema.List, list value.Value) (places, bool) {
	p := places{at: map[fieldpath.Element]int{}}
	if topology := l.Topology(); topology != schema.SetList && topology != schema.KeyedList {
		return p, false
	}
	for item := range list.Items() {
		e, ok := elementOf(l, item)
		if _, twice := p.at[e]; !ok || twice {
			return p, false
		}
		p.at[e] = len(p.elements)
		p.elements = append(p.elements, e)
	}
	return p, true
}

// elementOf returns the identity of an item of a set or keyed list.
func elementOf(l *schema.List, item value.Value) (fieldpath.Element, bool) {
	if l.Topology() == schema.SetList {
		return fieldpath.Item(item), true
	}
	var fields []fieldpath.KeyField
	for _, key := range l.Keys() {
		v := item.Get(key.Name)
		if v.IsAbsent() {
			v = key.Default
		}
		if !v.IsAbsent() {
			fields = append(fields, fieldpath.KeyField{Name: key.Name, Value: v})
		}
	}
	return fieldpath.Key(fields...), len(fields) > 0
}

// Unknown is a field that the schema of the kind lacks. After is its value in the desired object.
type Unknown struct{ Change }

// unknownIn returns the fields of two objects of type t that t does not declare.
func unknownIn(t *schema.Type, live, desired value.Value) []Unknown {
	u := unknowns{}
	u.node(t, live, desired, nil)
	return u.found
}

type unknowns struct{ found []Unknown }

func (u *unknowns) node(t *schema.Type, live, desired value.Value, path fieldpath.Path) {
	if t == nil {
		u.found = append(u.found, Unknown{Change{slices.Clone(path), live, desired}})
		return
	}
	if t == schema.Deduced {
		return
	}
	isObject := live.Kind() == value.KindObject || desired.Kind() == value.KindObject
	if m := t.Map(); m != nil && isObject {
		for name, pair := range union(live, desired) {
			inner, _ := m.Lookup(name)
			u.node(inner, pair[0], pair[1], append(path, fieldpath.Field(name)))
		}
		return
	}
	l := t.List()
	if l == nil {
		return
	}
	was, ok := placesIn(l, live)
	is, okToo := placesIn(l, desired)
	if !ok || !okToo { // an item of one list has no identity of its own
		for i, list := range []value.Value{live, desired} {
			for n := range list.Len() {
				pair := [2]value.Value{}
				pair[i] = list.Item(n)
				u.node(l.Element(), pair[0], pair[1], append(path, fieldpath.Index(n)))
			}
		}
		return
	}
	for i, e := range was.elements {
		item := value.Value{}
		if at, there := is.at[e]; there {
			item = desired.Item(at)
		}
		u.node(l.Element(), live.Item(i), item, append(path, e))
	}
	for i, e := range is.elements {
		if _, there := was.at[e]; !there {
			u.node(l.Element(), value.Value{}, desired.Item(i), append(path, e))
		}
	}
}
