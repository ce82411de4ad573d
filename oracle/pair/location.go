package pair

import (
	"maps"
	"slices"
)

// Location is a place in an object.
type Location struct {
	Field    string // the path without indexes and keys
	Path     []any  // names of members and indexes of items
	Schema   *Schema
	Value    any
	Exists   bool
	Required bool // the schema requires the member
}

// Locations returns the places of an object whose schema is s, parents before children, but not those of apiVersion, kind and managed fields.
// Places that the object lacks are visited, too, but no more than so many levels below one that exists.
func (all Schemas) Locations(s *Schema, object any, absent int) []*Location {
	w := walk{Schemas: all, absent: absent}
	w.visit(Location{Schema: s, Value: object, Exists: true}, 0)
	return w.out
}

// walk collects locations.
type walk struct {
	Schemas
	absent int
	out    []*Location
}

func (w *walk) visit(l Location, absent int) {
	l.Schema = w.Resolve(l.Schema)
	if len(l.Path) > 0 {
		w.out = append(w.out, &l)
	}
	if !l.Exists {
		if absent++; absent > w.absent {
			return
		}
	}
	below := func(field string, step any, s *Schema, v any, exists, required bool) {
		w.visit(Location{l.Field + field, append(slices.Clone(l.Path), step), s, v, exists, required}, absent)
	}
	switch s := l.Schema; {
	case len(s.Properties) > 0:
		members, _ := l.Value.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			if len(l.Path) == 0 && (name == "apiVersion" || name == "kind") || name == "managedFields" {
				continue
			}
			field := "." + name
			if len(l.Path) == 0 {
				field = name
			}
			member, ok := members[name]
			below(field, name, s.Properties[name], member, ok, slices.Contains(s.Required, name))
		}
	case s.Items != nil:
		items, _ := l.Value.([]any)
		for i, item := range items {
			below("[]", i, s.Items, item, true, false)
		}
		if len(items) == 0 {
			below("[]", 0, s.Items, nil, false, false)
		}
	case s.Additional != nil:
		members, _ := l.Value.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(members)) {
			below("[]", name, s.Additional, members[name], true, false)
		}
	}
}
