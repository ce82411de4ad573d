package gen

import (
	"slices"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Mutate returns v, a value of t, with one change. A part is set, removed, or replaced by null or by an empty value, or a list is
// reordered. The result conforms to t like a result of [Values.Of].
func (g *Values) Mutate(v value.Value, t *schema.Type) value.Value { return g.mutate(v, t, g.Depth) }

func (g *Values) mutate(v value.Value, t *schema.Type, depth int) value.Value {
	switch {
	case g.Chance(10):
		return g.of(t, depth)
	case g.Chance(4):
		return value.Null()
	case v.Kind() == value.KindObject && t.Map() != nil:
		return g.mutateObject(v, t.Map(), depth)
	case v.Kind() == value.KindList && t.List() != nil:
		return g.mutateList(v, t.List(), depth)
	}
	return g.of(t, depth)
}

func (g *Values) mutateObject(v value.Value, m *schema.Map, depth int) value.Value {
	switch n := g.N(10); {
	case n < 5 && v.Len() > 0:
		member := v.Member(g.N(v.Len()))
		if t, _ := m.Lookup(member.Name); t != nil {
			return v.With(member.Name, g.mutate(member.Value, t, depth-1))
		}
	case n < 7 && v.Len() > 0:
		return v.With(v.Member(g.N(v.Len())).Name, value.Value{})
	case n == 9 && g.Chance(30):
		return value.Object()
	}
	name := g.memberName()
	if fields := m.Fields(); len(fields) > 0 && g.Chance(80) {
		name = fields[g.N(len(fields))].Name
	}
	if t, _ := m.Lookup(name); t != nil {
		return v.With(name, g.of(t, depth-1))
	}
	return v
}

func (g *Values) mutateList(v value.Value, l *schema.List, depth int) value.Value {
	items := slices.Collect(v.Items())
	at := 0
	if len(items) > 0 {
		at = g.N(len(items))
	}
	switch n := g.N(10); {
	case n < 3 && len(items) > 0:
		changed := g.mutateItem(items[at], l, depth-1)
		rest := slices.Concat(items[:at], items[at+1:])
		if !changed.IsAbsent() && g.fits(l, rest, changed) {
			items[at] = changed
		}
	case n < 5 && len(items) > 0:
		items = slices.Delete(items, at, at+1)
	case n == 6:
		Shuffle(g.Choices, items)
	case n == 7 && g.Chance(20):
		items = nil
	default:
		if item := g.item(l, depth-1); !item.IsAbsent() && g.fits(l, items, item) {
			items = slices.Insert(items, at, item)
		}
	}
	return value.List(items...)
}

// mutateItem changes one item of l. It mostly keeps the identity of the item.
func (g *Values) mutateItem(item value.Value, l *schema.List, depth int) value.Value {
	if l.Topology() != schema.KeyedList || item.Kind() != value.KindObject {
		return g.item(l, depth)
	}
	changed := g.mutateObject(item, l.Element().Map(), depth)
	if g.Chance(80) {
		for _, k := range l.Keys() {
			changed = changed.With(k.Name, item.Get(k.Name))
		}
	}
	return g.keyedItem(l, changed, depth)
}

// Part returns a part of v, a value of t, as the configuration of a manager of some fields. Each member and item is kept or dropped; kept
// items have their keys.
func (g *Values) Part(v value.Value, t *schema.Type) value.Value {
	switch {
	case v.Kind() == value.KindObject && t.Map() != nil:
		return g.partOfObject(v, t.Map())
	case v.Kind() == value.KindList && t.List() != nil:
		return g.partOfList(v, t.List())
	}
	return v
}

func (g *Values) partOfObject(v value.Value, m *schema.Map) value.Value {
	var members []value.Member
	for name, member := range v.Members() {
		t, _ := m.Lookup(name)
		if t == nil || !g.Chance(55) {
			continue
		}
		if !g.Chance(25) {
			member = g.Part(member, t)
		}
		members = append(members, value.Member{Name: name, Value: member})
	}
	return value.Object(members...)
}

func (g *Values) partOfList(v value.Value, l *schema.List) value.Value {
	var items []value.Value
	for item := range v.Items() {
		if !g.Chance(60) {
			continue
		}
		if l.Topology() == schema.KeyedList {
			part := g.Part(item, l.Element())
			for _, k := range l.Keys() {
				if key := item.Get(k.Name); !key.IsAbsent() && part.Kind() == value.KindObject {
					part = part.With(k.Name, key)
				}
			}
			item = part
		}
		items = append(items, item)
	}
	if g.Chance(15) {
		Shuffle(g.Choices, items)
	}
	return value.List(items...)
}

// Distinct returns v, a value of t, without the repeated items of its sets and keyed lists. The first of equal items stays.
func Distinct(v value.Value, t *schema.Type) value.Value {
	switch {
	case v.Kind() == value.KindObject && t.Map() != nil:
		for name, member := range v.Members() {
			if mt, _ := t.Map().Lookup(name); mt != nil {
				v = v.With(name, Distinct(member, mt))
			}
		}
	case v.Kind() == value.KindList && t.List() != nil:
		l := t.List()
		identified := l.Topology() == schema.SetList || l.Topology() == schema.KeyedList
		var items []value.Value
		for item := range v.Items() {
			same := func(other value.Value) bool { return sameIdentity(l, item, other) }
			if !identified || !slices.ContainsFunc(items, same) {
				items = append(items, Distinct(item, l.Element()))
			}
		}
		return value.List(items...)
	}
	return v
}

// Repeats reports whether v, a set or keyed list, contains an item more than once.
func Repeats(l *schema.List, v value.Value) bool {
	if l.Topology() != schema.SetList && l.Topology() != schema.KeyedList {
		return false
	}
	items := slices.Collect(v.Items())
	for i, item := range items {
		if slices.ContainsFunc(items[:i], func(other value.Value) bool { return sameIdentity(l, item, other) }) {
			return true
		}
	}
	return false
}

// Spoil returns v, a value of t, with a part that t mostly does not admit.
func (g *Values) Spoil(v value.Value, t *schema.Type) value.Value {
	switch {
	case v.Kind() == value.KindObject && v.Len() > 0 && t.Map() != nil && g.Chance(80):
		member := v.Member(g.N(v.Len()))
		if mt, _ := t.Map().Lookup(member.Name); mt != nil {
			return v.With(member.Name, g.Spoil(member.Value, mt))
		}
	case v.Kind() == value.KindList && v.Len() > 0 && t.List() != nil && g.Chance(80):
		items := slices.Collect(v.Items())
		at := g.N(len(items))
		if g.Chance(25) {
			return value.List(append(items, items[at])...)
		}
		items[at] = g.Spoil(items[at], t.List().Element())
		return value.List(items...)
	}
	switch g.N(4) {
	case 0:
		return g.of(schema.Deduced, 2)
	case 1:
		return value.Null()
	case 2:
		if v.Kind() == value.KindObject {
			return v.With(g.memberName(), g.of(schema.Deduced, 2))
		}
	}
	return g.scalar(schema.Untyped)
}
