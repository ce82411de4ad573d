package typed

import (
	"slices"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/value"
)

// Walking values whose type nobody knows, as when a message is to show what is at a path. An
// element of a path says enough to find most things; which keys a list has is taken from the
// elements.

// Untyped returns v for [Walk], where no type of it is known; nothing else takes it. Without a
// type, what is at a path goes by the path alone:
//
//  1. A field is the member of that name, and an index the item of that number.
//  2. A value is the first item that equals it.
//  3. A key is the first item that has all of its fields; or else, for a type may give keys
//     defaults, the first that has some of them and lacks the others.
//
// Of the lists of names that the keys of one list have, rule 3 knows the first 16, and of the
// combinations that items lack, likewise: real ones have one or two. That bounds what a list costs.
func Untyped(v value.Value) Value { return Value{content: v} }

// maxKeySorts is how many lists of names, and how many combinations that are lacking, rule 3 of
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

// orNone returns what m has for e, and -1 when it has nothing.
func orNone(m map[fieldpath.Element]int, e fieldpath.Element) int {
	if n, ok := m[e]; ok {
		return n
	}
	return -1
}

// indexValues returns the number of the first item of each value in the list v.
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

// keySort is an index of a list by keys of certain names.
type keySort struct {
	names []string
	has   []string // combinations of names that some item has: 1 for each that it has, else 0; all of them first
	first []map[fieldpath.Element]int
}

// keySort returns the index of v, a list, by keys with the names of these fields. It is made if
// none of known is it, and empty if known are too many.
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

// add puts item number n into s, unless there is one of the same key.
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

// find returns the number of the item that the key of these fields selects, and -1 when there is
// none.
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
