package model

import (
	"slices"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Merge returns live with config merged over it. Both are of type t, and config holds no item twice.
func Merge(t *schema.Type, live, config value.Value) value.Value {
	switch {
	case config.IsAbsent():
		return live
	case live.IsAbsent():
		return config
	}
	kind := value.KindNull // the kind of container that the type assigns to config
	switch {
	case t.Map() != nil && (config.Kind() == value.KindObject || !fits(t, config)):
		if !t.Map().Atomic() {
			kind = value.KindObject
		}
	case t.Scalar() != schema.None && config.Kind() != value.KindList:
	case t.List() != nil:
		if t.List().Topology() != schema.AtomicList {
			kind = value.KindList
		}
	}
	liveHas := kind != value.KindNull && live.Kind() == kind && live.Len() > 0
	configHas := kind != value.KindNull && config.Kind() == kind && config.Len() > 0
	switch {
	case liveHas && configHas && kind == value.KindObject:
		return mergeObjects(t.Map(), live, config)
	case liveHas && configHas:
		return mergeLists(t.List(), live, config)
	case liveHas:
		return live
	}
	return config
}

// fits reports whether t has a part of v's kind.
func fits(t *schema.Type, v value.Value) bool {
	switch v.Kind() {
	case value.KindNull:
		return false
	case value.KindObject:
		return t.Map() != nil
	case value.KindList:
		return t.List() != nil
	}
	return t.Scalar() != schema.None
}

func mergeObjects(m *schema.Map, live, config value.Value) value.Value {
	out := live
	for name, member := range config.Members() {
		t, _ := m.Lookup(name)
		out = out.With(name, Merge(t, live.Get(name), member))
	}
	return out
}

// mergeLists orders the items of two sets or keyed lists. It walks both lists with a cursor each. shared holds the items of
// config that live also has and that the walk has not reached yet. The cursor of config waits at the first shared item for the
// cursor of live.
func mergeLists(l *schema.List, live, config value.Value) value.Value {
	lives, configs := slices.Collect(live.Items()), slices.Collect(config.Items())
	var out, merged []value.Value
	li, ci := 0, 0
	shared := slices.DeleteFunc(slices.Clone(configs), func(item value.Value) bool { return len(all(l, lives, item)) == 0 })
	pop := func() {
		if len(shared) > 0 {
			shared = shared[1:]
		}
	}
	emit := func(item value.Value) {
		own := all(l, lives, item)
		switch len(own) {
		case 0:
			out = append(out, item)
		case 1:
			out = append(out, Merge(l.Element(), own[0], item))
		default:
			out = append(out, Merge(l.Element(), value.Null(), item))
		}
		merged = append(merged, item)
	}
	for li < len(lives) || ci < len(configs) {
		if li < len(lives) && ci < len(configs) {
			if same(l, lives[li], configs[ci]) {
				emit(configs[ci])
				li, ci = li+1, ci+1
				pop()
				continue
			}
			if len(all(l, configs, lives[li])) > 0 && len(shared) > 0 && !same(l, shared[0], lives[li]) {
				li++
				continue
			}
		}
		if li < len(lives) {
			if len(all(l, configs, lives[li])) == 0 {
				out = append(out, lives[li])
				li++
				continue
			}
			if len(all(l, merged, lives[li])) > 0 {
				li++
			}
		}
		if ci < len(configs) {
			emit(configs[ci])
			if len(shared) > 0 && same(l, shared[0], configs[ci]) {
				pop()
			}
			ci++
		}
	}
	return value.List(out...)
}

// all returns the items that have the identity of item.
func all(l *schema.List, items []value.Value, item value.Value) []value.Value {
	var out []value.Value
	for _, other := range items {
		if same(l, other, item) {
			out = append(out, other)
		}
	}
	return out
}

// same reports whether two items have the same identity.
func same(l *schema.List, a, b value.Value) bool {
	if l.Topology() == schema.SetList {
		return a.Equal(b)
	}
	for _, k := range l.Keys() {
		x, y := a.Get(k.Name), b.Get(k.Name)
		if x.IsAbsent() {
			x = k.Default
		}
		if y.IsAbsent() {
			y = k.Default
		}
		if !x.Equal(y) {
			return false
		}
	}
	return true
}
