package typed

import (
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Extract returns only those parts of v that the paths of s lead to. Callers mostly want the leaves of a set, see
// [fieldpath.Set.Leaves]:
//
//	X4  Scalars and atomic containers are whole. Granular objects and lists consist of the parts that s leads to; one that
//	    has none becomes null, and an empty one stays empty.
//	X5  An item of a list that s has paths below is extracted by these paths; one that only its own path is in s is whole.
//	X6  A member of an object whose own path is in s is extracted by the very set that its object was extracted by, not by what
//	    is below its path: a peculiarity of the reference, which matters only where a granular object is itself in s.
//
// Items without identity are as in [Value.Remove]. The result is not validated again: items of a keyed list may lack their keys, see [Value.ExtractWithKeys].
func (v Value) Extract(s fieldpath.Set) Value {
	x := extractor{tidy: v.tidy}
	return Value{content: x.node(v.typ, v.content, s), typ: v.typ, tidy: x.tidy}
}

// ExtractWithKeys is like Extract, but gives each item of a keyed list that it extracts parts of its keys, as far as v has
// them. An item of which s has nothing but its own path becomes just its keys.
func (v Value) ExtractWithKeys(s fieldpath.Set) Value {
	var b fieldpath.Builder
	addKeys(&b, s.Intersect(v.Fields()))
	return v.Extract(s.Union(b.Set()))
}

// addKeys adds, for each keyed item on a path of s, the paths of its keys to b.
func addKeys(b *fieldpath.Builder, s fieldpath.Set) {
	for e := range s.Entries() {
		b.Enter(e.Element)
		if e.Element.Kind() == fieldpath.KindKey {
			for _, k := range e.Element.Fields() {
				b.Enter(fieldpath.Field(k.Name))
				b.Leave(true)
			}
		}
		addKeys(b, e.Sub)
		b.Leave(false)
	}
}

type extractor struct {
	tidy bool // the result is
}

func (x *extractor) node(t *schema.Type, v value.Value, s fieldpath.Set) value.Value {
	switch partsFor(t, v).first() {
	case mapPart:
		switch {
		case v.Kind() != value.KindObject:
			return value.Null()
		case v.Len() == 0 || t.Map().Atomic():
			return v
		}
		return x.members(t.Map(), v, s)
	case listPart:
		switch {
		case v.Kind() != value.KindList:
			return value.Null()
		case v.Len() == 0 || t.List().Topology() == schema.AtomicList:
			return v
		}
		return x.items(t.List(), v, s)
	case scalarPart:
		return v
	}
	return value.Null()
}

func (x *extractor) members(m *schema.Map, v value.Value, s fieldpath.Set) value.Value {
	var out []value.Member
	for e := range s.Entries() {
		if e.Element.Kind() != fieldpath.KindField {
			break
		}
		name := e.Element.Name()
		child := v.Get(name)
		if child.IsAbsent() {
			continue
		}
		t, _ := m.Lookup(name)
		below := e.Sub
		if e.Member {
			below = s // rule X6
		}
		out = append(out, value.Member{Name: name, Value: x.node(t, child, below)})
	}
	return objectOrNull(out)
}

func (x *extractor) items(l *schema.List, v value.Value, s fieldpath.Set) value.Value {
	entries := itemEntries(l, s)
	var maker fieldpath.Maker
	var out []value.Value
	for item := range v.Items() {
		switch e := entryOf(entries, &maker, l, item); {
		case !e.Sub.IsEmpty():
			part := x.node(l.Element(), item, e.Sub)
			x.tidy = x.tidy && keepsIdentity(l, item, part)
			out = append(out, part)
		case e.Member:
			out = append(out, item)
		}
	}
	return listOrNull(out)
}
