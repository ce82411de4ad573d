package typed

import (
	"slices"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/slab"
	"github.com/deed-project/deed/internal/work"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Extraction is the opposite of removal: the parts that a set leads to stay. In this example, ports
// is a keyed list:
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
//	    that the set leads to. A container without such parts becomes null, and an empty
//	    container stays empty.
//	X5  If the set has paths below an item of a list, these paths extract the item. If the set
//	    has only the item's own path, the item is whole.
//	X6  If the set has the own path of an object's member, the member is extracted by the same
//	    set as its object, not by the paths below the member.
//
// Rule X6 is a peculiarity of the reference. It matters only if s has the path of a granular
// object.
//
// Items without identity share one path, as in [Value.Remove]. The result is not validated again:
// items of a keyed list may lack their keys, see extractWithKeys. For a value without a type, the
// result is the zero Value.
//
// Cost: linear in s and in the visited parts of v, with a logarithmic factor.
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

// extractWithKeys is Extract, but also extracts the keys of each keyed item on a path of s, if v
// has these keys. An item becomes just its keys if s has only the item's own path.
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
	tidy  bool // whether the result is tidy
	nodes int  // visited members, items, and entries of sets
}

// selection is a set that selects the parts to extract. Rule X6 may extract many values by one set,
// so the entries of the set are listed once, and then searched.
type selection struct {
	entries  []fieldpath.Entry
	next     int                       // where the last search ended: after the entry that it found
	searches int                       // number of binary searches
	places   map[fieldpath.Element]int // of all entries; nil until there were many searches
}

// An index of all entries is made after one binary search for each eight of them, if there are more
// than fewEntries.
const (
	searchedShare = 8
	fewEntries    = 32
)

// selectionOf returns s as a selection.
func selectionOf(s fieldpath.Set) *selection {
	n := 0
	for range s.Entries() {
		n++
	}
	return &selection{entries: slices.AppendSeq(make([]fieldpath.Entry, 0, n), s.Entries())}
}

// selection is selectionOf, and counts the entries.
func (x *extractor) selection(s fieldpath.Set) *selection {
	out := selectionOf(s)
	x.nodes += len(out.entries)
	return out
}

// at returns the entry of e, or the zero Entry if there is none. Lists often have the order of sets.
//
// Cost: constant if e belongs where the last search ended, and on average after many searches. The
// first searches are logarithmic in s.
func (s *selection) at(e fieldpath.Element) fieldpath.Entry {
	if !s.belongs(e, s.next) {
		s.next = s.search(e)
	}
	if s.next == len(s.entries) || s.entries[s.next].Element != e {
		return fieldpath.Entry{}
	}
	s.next++
	return s.entries[s.next-1]
}

// search returns the place of the entry of e. If there is none, it returns any other place, or the
// number of entries.
func (s *selection) search(e fieldpath.Element) int {
	n := len(s.entries)
	if s.places == nil && (n <= fewEntries || s.searches*searchedShare < n) {
		s.searches++
		i, _ := slices.BinarySearchFunc(s.entries, e, func(e fieldpath.Entry, want fieldpath.Element) int {
			return paths.Compare(e.Element, want)
		})
		return i
	}
	if s.places == nil {
		s.places = make(map[fieldpath.Element]int, n)
		for i := range s.entries {
			s.places[s.entries[i].Element] = i
		}
	}
	if i, ok := s.places[e]; ok {
		return i
	}
	return n
}

// belongs reports whether e sorts after all entries in front of i, and after no other entry.
func (s *selection) belongs(e fieldpath.Element, i int) bool {
	return (i == 0 || paths.Compare(s.entries[i-1].Element, e) < 0) &&
		(i == len(s.entries) || paths.Compare(e, s.entries[i].Element) <= 0)
}

// node returns the parts of v, a value of type t, that s leads to. By X4, a container without such
// parts becomes null.
func (x *extractor) node(t *schema.Type, v value.Value, s *selection) value.Value {
	switch partsFor(t, v).first() {
	// X4: a granular container with members or items is walked.
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

// members returns the parts of v, an object with members, that s leads to. Members and entries of s
// have the same order, so each search mostly starts at the right entry.
func (x *extractor) members(m *schema.Map, v value.Value, s *selection) value.Value {
	var out []value.Member
	x.nodes += v.Len()
	for i := range v.Len() {
		member := v.Member(i)
		e := s.at(fieldpath.Field(member.Name))
		if e.Element == fieldpath.Any() {
			continue
		}
		// By X6, a member whose own path is in s is extracted by s itself.
		below := s // rule X6
		if !e.Member {
			below = x.selection(e.Sub)
		}
		t, _ := m.Lookup(member.Name)
		out = append(out, value.Member{Name: member.Name, Value: x.node(t, member.Value, below)})
	}
	return objectOrNull(out)
}

// items returns the parts of v, a list with items, that s leads to. The order of the list may
// differ from the order of s.
func (x *extractor) items(l *schema.List, v value.Value, s *selection) value.Value {
	var texts slab.Text
	var out []value.Value
	x.nodes += v.Len()
	for item := range v.Items() {
		switch e := s.at(identityOf(&texts, l, item)); {
		// X5: s has paths below the item.
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
