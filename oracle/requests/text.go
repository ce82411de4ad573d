package main

import (
	"maps"
	"slices"

	"github.com/deed-project/deed/oracle/pair"
)

// withUnknown returns a copy of a document in which some objects, at any depth, have members that no kind knows.
func (m *maker) withUnknown(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out[name] = m.withUnknown(v[name])
		}
		for m.chance(0.25) {
			out[one(m, "aa", "nope", "zz", "Name")] = one[any](m, 1, "x", nil, []any{1}, map[string]any{"z": 1, "a": 2})
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = m.withUnknown(item)
		}
		return out
	}
	return v
}

// appendShuffled appends a document as JSON with the members of each object in a random order. Each of them stands twice with the given
// probability.
func (m *maker) appendShuffled(b []byte, v any, twice float64) []byte {
	switch v := v.(type) {
	case map[string]any:
		names := slices.Sorted(maps.Keys(v))
		for _, name := range names {
			if m.chance(twice) {
				names = append(names, name)
			}
		}
		m.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		b = append(b, '{')
		for i, name := range names {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(append(b, pair.Text(name)...), ':')
			b = m.appendShuffled(b, v[name], twice)
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = m.appendShuffled(b, item, twice)
		}
		return append(b, ']')
	}
	return append(b, pair.Text(v)...)
}
