package typed

import (
	deedpath "github.com/deed-project/deed/fieldpath"
	deedschema "github.com/deed-project/deed/schema"
	deedvalue "github.com/deed-project/deed/value"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// This file makes maps and slices of computed values. A document has one integer type and one map type, but the values that it was
// computed from may have more. Then a result of Merge, RemoveItems or ExtractItems is computed again, from views. For a result of
// the engine of package merge, every leaf is looked up in the source values, first in the configuration:
//
//	live    {replicas: int(1), paused: true}    config  {replicas: int32(2)}
//	merged  {paused: true, replicas: 2}         from the document
//	made    {paused: true, replicas: int32(2)}  paused as in live, replicas as in config
//
// Items are paired by identity. A value that neither source has, because a converter made it, is as in the document.

// asValue returns the view of c. It makes the view if there is none.
func (c *content) asValue() value.Value {
	if c.view != nil {
		return c.view
	}
	c.making.Do(func() {
		var x any
		switch {
		case c.plain:
			x = c.document.Content().ToAny()
		case c.walk != nil:
			x = c.walk()
		default:
			x = unstructured(c.document.Content(), c.document.Type(), c.sources())
		}
		c.made = value.NewValueInterface(x)
	})
	return c.made
}

// source is a value that another value was computed from, or a part of it: the document, and the Go value that the document was
// read from.
type source struct {
	document deedvalue.Value
	x        any
}

// sources returns the values that c was computed from, the configuration first.
func (c *content) sources() []source {
	var out []source
	for _, from := range []*content{c.from[1], c.from[0]} {
		if from != nil && !from.loose {
			out = append(out, source{from.doc(), from.asValue().Unstructured()})
		}
	}
	return out
}

// unstructured returns v, of type t, in unstructured form, with leaves of sources.
func unstructured(v deedvalue.Value, t *deedschema.Type, sources []source) any {
	switch v.Kind() {
	case deedvalue.KindObject:
		if t != nil && t.Map() != nil && !t.Map().Atomic() && v.Len() > 0 {
			out := make(map[string]any, v.Len())
			for name, member := range v.Members() {
				below, _ := t.Map().Lookup(name)
				out[name] = unstructured(member, below, members(sources, name))
			}
			return out
		}
	case deedvalue.KindList:
		if t != nil && t.List() != nil && t.List().Topology() != deedschema.AtomicList && v.Len() > 0 {
			return makeList(v, t.List(), sources)
		}
	}
	for _, s := range sources {
		if s.document.Equal(v) {
			return s.x
		}
	}
	return v.ToAny()
}

// members returns the members called name of the sources that have one.
func members(sources []source, name string) []source {
	var out []source
	for _, s := range sources {
		member := s.document.Get(name)
		if member.IsAbsent() {
			continue
		}
		switch m := s.x.(type) {
		case map[string]any:
			out = append(out, source{member, m[name]})
		case map[any]any:
			out = append(out, source{member, m[name]})
		}
	}
	return out
}

// makeList does the work of unstructured for a list whose items have identities.
func makeList(v deedvalue.Value, l *deedschema.List, sources []source) any {
	type place struct {
		source source
		items  map[deedpath.Element][]source // the items that were not taken yet, by their identity
	}
	var places []place
	for _, s := range sources {
		items, ok := s.x.([]any)
		if !ok || s.document.Len() != len(items) {
			continue
		}
		p := place{s, map[deedpath.Element][]source{}}
		for i, x := range items {
			item := s.document.Item(i)
			e := identity(l, item)
			p.items[e] = append(p.items[e], source{item, x})
		}
		places = append(places, p)
	}
	out := make([]any, 0, v.Len())
	for item := range v.Items() {
		var below []source
		e := identity(l, item)
		for _, p := range places {
			if same := p.items[e]; len(same) > 0 {
				below = append(below, same[0])
				if len(same) > 1 {
					p.items[e] = same[1:]
				}
			}
		}
		out = append(out, unstructured(item, l.Element(), below))
	}
	return out
}

// identity returns the element that identifies item in a list.
func identity(l *deedschema.List, item deedvalue.Value) deedpath.Element {
	if l.Topology() != deedschema.KeyedList {
		return deedpath.Item(item)
	}
	var key []deedpath.KeyField
	for _, k := range l.Keys() {
		v := item.Get(k.Name)
		if v.IsAbsent() {
			v = k.Default
		}
		if !v.IsAbsent() {
			key = append(key, deedpath.KeyField{Name: k.Name, Value: v})
		}
	}
	return deedpath.Key(key...)
}
