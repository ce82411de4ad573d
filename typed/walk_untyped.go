package typed

import (
	"slices"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/value"
)

// Walks of values without a known type, for example to show the value at a path in a message. The
// elements of a path are enough to find most values. They also tell which keys a list has.

// Untyped returns v without a type, for [Walk]. No other function finds parts of such a value. Walk
// finds them by the path alone:
//
//  1. A field selects the member of that name, and an index the item of that number.
//  2. A value selects the first item that equals it.
//  3. A key selects the first item that has all of its fields. If there is none, it selects the
//     first item that has some of the fields and lacks the others, because a type may give keys
//     defaults.
//
// For each list, rule 3 knows at most 16 lists of key names. For each of these, it knows at most 16
// combinations of names that items have. This bounds the cost of a list; real lists have one or
// two.
func Untyped(v value.Value) Value { return Value{content: v} }

// maxKeySorts is the largest number of lists of names, and of combinations, that rule 3 of
// [Untyped] knows.
const maxKeySorts = 16

// locateUntyped is locate for a spot without type.
func (w *walker) locateUntyped(children []child, i int, v value.Value) {
	var byValue map[fieldpath.Element]int
	var byKey []*keySort
	for k := range children {
		c := &children[k]
		n := -1
		switch c.Element.Kind() {
		case fieldpath.KindField:
			c.spots[i] = spot{value: v.Get(c.Element.Name()), item: -1}
		case fieldpath.KindIndex:
			n = c.Element.Index()
		case fieldpath.KindItem:
			if byValue == nil {
				byValue = w.indexValues(v)
			}
			n = orNone(byValue, c.Element)
		case fieldpath.KindKey:
			n = w.keySort(&byKey, v, c.Element.Fields()).find(c.Element.Fields())
		}
		if v.Kind() == value.KindList && 0 <= n && n < v.Len() {
			c.spots[i] = spot{value: v.Item(n), item: n}
		}
	}
}

// orNone returns m[e], or -1 if m has no e.
func orNone(m map[fieldpath.Element]int, e fieldpath.Element) int {
	if n, ok := m[e]; ok {
		return n
	}
	return -1
}

// indexValues returns, for each value in the list v, the number of the first item with that value.
func (w *walker) indexValues(v value.Value) map[fieldpath.Element]int {
	w.nodes += v.Len()
	out := map[fieldpath.Element]int{}
	n := 0
	for item := range v.Items() {
		if e := paths.Item(&w.texts, item); orNone(out, e) < 0 {
			out[e] = n
		}
		n++
	}
	return out
}

// keySort is an index of a list by keys with the given names.
type keySort struct {
	names []string
	has   []string // combinations of names that items have, as a 1 or 0 for each name; the complete one first
	first []map[fieldpath.Element]int
}

// keySort returns the index of the list v by keys with the names of fields. It makes the index
// unless known has it. The index is empty if known is full or there are no fields.
func (w *walker) keySort(known *[]*keySort, v value.Value, fields []fieldpath.KeyField) *keySort {
	hasNames := func(s *keySort) bool {
		return slices.EqualFunc(s.names, fields, func(name string, f fieldpath.KeyField) bool { return name == f.Name })
	}
	if i := slices.IndexFunc(*known, hasNames); i >= 0 {
		return (*known)[i]
	}
	if len(*known) == maxKeySorts || len(fields) == 0 {
		return &keySort{}
	}
	s := &keySort{names: make([]string, len(fields))}
	all := make([]byte, len(fields))
	for i, f := range fields {
		s.names[i], all[i] = f.Name, '1'
	}
	s.has, s.first = []string{string(all)}, []map[fieldpath.Element]int{{}}
	w.nodes += v.Len()
	n := 0
	for item := range v.Items() {
		s.add(item, n)
		n++
	}
	*known = append(*known, s)
	return s
}

// add puts item number n into s, unless s has an item with the same key.
func (s *keySort) add(item value.Value, n int) {
	has := make([]byte, len(s.names))
	var fields []fieldpath.KeyField
	for i, name := range s.names {
		has[i] = '0'
		if v := item.Get(name); !v.IsAbsent() {
			has[i] = '1'
			fields = append(fields, fieldpath.KeyField{Name: name, Value: v})
		}
	}
	if len(fields) == 0 {
		return
	}
	at := slices.Index(s.has, string(has))
	if at < 0 {
		if len(s.has) == maxKeySorts {
			return
		}
		at = len(s.has)
		s.has, s.first = append(s.has, string(has)), append(s.first, map[fieldpath.Element]int{})
	}
	if key := fieldpath.Key(fields...); orNone(s.first[at], key) < 0 {
		s.first[at][key] = n
	}
}

// find returns the number of the item that a key of these fields selects, or -1.
func (s *keySort) find(fields []fieldpath.KeyField) int {
	best := -1
	for at, has := range s.has {
		var own []fieldpath.KeyField
		for i, f := range fields {
			if has[i] == '1' {
				own = append(own, f)
			}
		}
		n := orNone(s.first[at], fieldpath.Key(own...))
		if n >= 0 && at == 0 {
			return n
		}
		if n >= 0 && (best < 0 || n < best) {
			best = n
		}
	}
	return best
}
