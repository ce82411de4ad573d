package typed

import (
	"slices"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/slab"
	"github.com/deed-project/deed/internal/work"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Extracting is the opposite of removing: what a set leads to stays. Of a keyed list of ports:
//
//	v        {spec: {replicas: 3, ports: [{port: 80, name: web}, {port: 443}]}}
//	s        .spec.ports[port=80].name
//	result   {spec: {ports: [{name: web}]}}
//
//	with keys        {spec: {ports: [{name: web, port: 80}]}}

// Extract returns only those parts of v that the paths of s lead to. Callers mostly want the leaves
// of a set, see [fieldpath.Set.Leaves]:
//
//	X4  Scalars and atomic containers are whole. Granular objects and lists consist of the parts
//	    that s leads to; one that has none becomes null, and an empty one stays empty.
//	X5  An item of a list that s has paths below is extracted by these paths; one of which s has
//	    only the own path is whole.
//	X6  A member of an object whose own path is in s is extracted by the very set that its object
//	    was extracted by, not by what is below its path: a peculiarity of the reference, which
//	    matters only where a granular object is itself in s.
//
// Items without identity are as in [Value.Remove]. The result is not validated again: items of a
// keyed list may lack their keys, see extractWithKeys. Nothing is extracted from a value without a
// type: the result is the zero Value.
//
// Its cost grows with the parts of v that are visited and with s, times a logarithm.
func (v Value) Extract(s fieldpath.Set) Value {
	if v.typ == nil {
		return Value{}
	}
	x := extractor{tidy: v.tidy}
	out := Value{content: x.node(v.typ, v.content, x.selection(s)), typ: v.typ}
	work.Add(work.Counts{Nodes: x.nodes})
	out.tidy = x.tidy
	return out
}

// extractWithKeys is like Extract, but gives each item of a keyed list that it extracts parts of
// its keys, as far as v has them. An item of which s has nothing but its own path becomes just its
// keys.
func (v Value) extractWithKeys(s fieldpath.Set) Value {
	var b fieldpath.Builder
	addKeys(&b, s.Intersect(v.Fields()))
	return v.Extract(s.Union(b.Set()))
}

// addKeys adds, for each keyed item on a path of s, the paths of its keys to b.
func addKeys(b *fieldpath.Builder, s fieldpath.Set) {
	for e := range s.Entries() {
		paths.Enter(b, e.Element)
		if e.Element.Kind() == fieldpath.KindKey {
			for _, k := range e.Element.Fields() {
				paths.Enter(b, fieldpath.Field(k.Name))
				paths.Leave(b, true)
			}
		}
		addKeys(b, e.Sub)
		paths.Leave(b, false)
	}
}

// extractor is the state of Extract.
type extractor struct {
	tidy  bool // the result is
	nodes int  // members, items, and entries of sets that were visited
}

// selection is a set that parts are extracted by. Rule X6 may extract many values by one set, so
// its entries are listed once, and searched.
type selection struct {
	entries []fieldpath.Entry
	next    int // where the last search ended: behind what it found
}

// selectionOf returns s as a selection.
func selectionOf(s fieldpath.Set) *selection {
	n := 0
	for range s.Entries() {
		n++
	}
	return &selection{entries: slices.AppendSeq(make([]fieldpath.Entry, 0, n), s.Entries())}
}

// selection is selectionOf, and counts what it costs.
func (x *extractor) selection(s fieldpath.Set) *selection {
	out := selectionOf(s)
	x.nodes += len(out.entries)
	return out
}

// at returns the entry of e, and the zero Entry when there is none. Its cost grows with the
// logarithm of s, unless e belongs where the entry before left off: lists are often in the order of
// sets.
func (s *selection) at(e fieldpath.Element) fieldpath.Entry {
	if !s.belongs(e, s.next) {
		s.next, _ = slices.BinarySearchFunc(s.entries, e, func(e fieldpath.Entry, want fieldpath.Element) int {
			return paths.Compare(e.Element, want)
		})
	}
	if s.next == len(s.entries) || s.entries[s.next].Element != e {
		return fieldpath.Entry{}
	}
	s.next++
	return s.entries[s.next-1]
}

// belongs reports whether e sorts behind all entries in front of i, and behind no other.
func (s *selection) belongs(e fieldpath.Element, i int) bool {
	return (i == 0 || paths.Compare(s.entries[i-1].Element, e) < 0) &&
		(i == len(s.entries) || paths.Compare(e, s.entries[i].Element) <= 0)
}

// node returns the part of v, a t, that s leads to: null for a container that has none, by rule X4.
func (x *extractor) node(t *schema.Type, v value.Value, s *selection) value.Value {
	switch partsFor(t, v).first() {
	// X4: what is granular and has something in it is walked.
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

// members returns the part of an object that is not empty. Members come in the order of their
// names, which is that of s, so what s has for one is mostly found behind what it had for the one
// before.
func (x *extractor) members(m *schema.Map, v value.Value, s *selection) value.Value {
	var out []value.Member
	x.nodes += v.Len()
	for i := range v.Len() {
		member := v.Member(i)
		e := s.at(fieldpath.Field(member.Name))
		if e.Element == fieldpath.Any() {
			continue
		}
		// What the member is extracted by: by X6 the very set of its object if its own path is in
		// that.
		below := s // rule X6
		if !e.Member {
			below = x.selection(e.Sub)
		}
		t, _ := m.Lookup(member.Name)
		out = append(out, value.Member{Name: member.Name, Value: x.node(t, member.Value, below)})
	}
	return objectOrNull(out)
}

// items returns the part of a list that is not empty. Items come in the list's order, which need
// not be that of s.
func (x *extractor) items(l *schema.List, v value.Value, s *selection) value.Value {
	var texts slab.Text
	var out []value.Value
	x.nodes += v.Len()
	for item := range v.Items() {
		switch e := s.at(identityOf(&texts, l, item)); {
		// X5: by what is below the item.
		case !e.Sub.IsEmpty():
			part := x.node(l.Element(), item, x.selection(e.Sub))
			x.tidy = x.tidy && keepsIdentity(l, item, part)
			out = append(out, part)
		// X5: the whole item.
		case e.Member:
			out = append(out, item)
		}
	}
	return listOrNull(out)
}
