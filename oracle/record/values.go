package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// oddities are the rates of rule violations in values, per mille of the places where they are possible.
type oddities struct {
	nulls      int
	duplicates int // of list items
	wrong      int // values of a type that the schema does not admit
	unknown    int // fields that the schema lacks; at most one in a value
}

// maker makes random values.
type maker struct {
	*rand.Rand
	oddities
}

func (m *maker) odd(perMille int) bool { return m.IntN(1000) < perMille }

var (
	words    = []string{"", "1", "true", "x", "y", "z", "a.b/c", "ünï \"q\"\n", "TCP", "UDP"}
	integers = []any{int64(-1), int64(0), int64(1), int64(2), int64(80), int64(1099511627776)}
	numbers  = []any{1.5, 2.25, -0.5, 1e21, int64(0), int64(1), int64(2)}
	mapKeys  = []string{"x", "y", "z", "k.io/n"}
)

func randomScalar(r *rand.Rand, scalar string) any {
	switch scalar {
	case "integer":
		return integers[r.IntN(len(integers))]
	case "number":
		return numbers[r.IntN(len(numbers))]
	case "boolean":
		return r.IntN(2) == 0
	case "int-or-string":
		return []any{int64(0), int64(1), int64(80), "50%", "1", "x"}[r.IntN(6)]
	}
	return words[r.IntN(len(words))]
}

// value makes a value of shape s, or one that violates rules.
func (m *maker) value(s *shape) any {
	if m.odd(m.nulls) || s.nullable && m.IntN(8) == 0 {
		return nil
	}
	if m.odd(m.wrong) {
		if s.kind == scalarKind {
			return []any{}
		}
		return "wrong"
	}
	switch s.kind {
	case scalarKind:
		return randomScalar(m.Rand, s.scalar)
	case objectKind:
		return m.object(s)
	case mapKind:
		out := map[string]any{}
		for range m.IntN(3) {
			out[mapKeys[m.IntN(len(mapKeys))]] = m.value(s.elem)
		}
		return out
	}
	return m.list(s)
}

func (m *maker) object(s *shape) any {
	out := map[string]any{}
	for _, f := range s.fields {
		if m.IntN(2) == 0 {
			out[f.name] = m.value(f.shape)
		}
	}
	if s.preserve && m.IntN(3) == 0 {
		out["free"] = []any{map[string]any{"x": int64(1), "y": []any{"a"}}, "text", map[string]any{}}[m.IntN(3)]
	}
	return out
}

func (m *maker) list(s *shape) any {
	out := []any{}
	seen := map[string]bool{}
	for range m.IntN(4) {
		item := m.value(s.elem)
		if s.kind == atomicList {
			out = append(out, item)
			continue
		}
		identity := fmt.Sprint(m.identify(s, item))
		if item == nil || seen[identity] && !m.odd(m.duplicates) {
			continue
		}
		seen[identity] = true
		out = append(out, item)
	}
	return out
}

// identify sets the keys of an item that has keys, and returns its identity.
func (m *maker) identify(s *shape, item any) any {
	object, ok := item.(map[string]any)
	if !ok {
		return item
	}
	var identity [2]any
	for i, name := range s.keys {
		f := s.elem.fields[slices.IndexFunc(s.elem.fields, func(f field) bool { return f.name == name })]
		object[name] = randomScalar(m.Rand, f.scalar)
		if identity[i] = object[name]; f.dflt != nil && m.IntN(3) == 0 {
			delete(object, name)
			identity[i] = f.dflt
		}
	}
	return identity
}

// mix makes a value of shape s with parts of a and b.
func (m *maker) mix(s *shape, a, b any) any {
	x, okX := a.(map[string]any)
	y, okY := b.(map[string]any)
	if !okX || !okY {
		return []any{a, b}[m.IntN(2)]
	}
	out := map[string]any{}
	names := map[string]bool{}
	for name := range x {
		names[name] = true
	}
	for name := range y {
		names[name] = true
	}
	for _, name := range sortedNames(names) {
		inX, hasX := x[name]
		inY, hasY := y[name]
		switch child := s.member(name); {
		case hasX && hasY && child != nil:
			out[name] = m.mix(child, inX, inY)
		case m.IntN(10) < 3:
		case hasX:
			out[name] = inX
		default:
			out[name] = inY
		}
	}
	return out
}

func (s *shape) member(name string) *shape {
	if s.kind == mapKind {
		return s.elem
	}
	for _, f := range s.fields {
		if f.name == name {
			return f.shape
		}
	}
	return nil
}

func sortedNames(names map[string]bool) []string {
	out := make([]string, 0, len(names))
	for name := range names {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
