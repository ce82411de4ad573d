package typed

import (
	"slices"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Lookups of the children of a node in the entries of sets, the members of objects and the items of
// lists. Children and entries have the same order, and items often have it too. So each search
// starts near the last match.

// find looks up children in a set. Both have the same order, so the search for each entry of the
// set starts where the search before it ended.
func (w *walker) find(children []child, at stand) {
	first := 0
	for e := range at.below.Entries() {
		w.nodes++
		i, found := w.search(children[first:], e.Element)
		first += i
		if first == len(children) {
			return
		}
		if c := &children[first]; found {
			c.first = w.stand(stand{at.group, e.Member, e.Sub, c.first})
		}
	}
}

// search returns the position of e among children, or where it belongs, and whether e is there. It
// doubles its step until it reaches or passes e. Then it searches between the last two children
// that it looked at. Cost: the logarithm of the position of e.
//
//	children    a b c d e f g h
//	looking for f   a, b, d are smaller, h is greater: between e and g
func (w *walker) search(children []child, e fieldpath.Element) (int, bool) {
	low, high := 0, 0
	for step := 1; high < len(children); step *= 2 {
		w.pairs++
		order := paths.Compare(children[high].Element, e)
		if order == 0 {
			return high, true
		}
		if order > 0 {
			break
		}
		low = high + 1
		high += step
	}
	i, found := slices.BinarySearchFunc(children[low:min(high, len(children))], e, func(c child, e fieldpath.Element) int {
		w.pairs++
		return paths.Compare(c.Element, e)
	})
	return low + i, found
}

// locate looks up children in value number i of the walk, which is at the given spot.
func (w *walker) locate(children []child, i int, at spot) {
	switch {
	// The value has no part here, and so no parts below.
	case at.value.IsAbsent():
		return
	// Without a type, only the path counts: see Untyped.
	case at.typ == nil:
		w.locateUntyped(children, i, at.value)
		return
	}
	// Fields come first among the children. Each one is a member of an object.
	fields := 0
	for ; fields < len(children) && children[fields].Element.Kind() == fieldpath.KindField; fields++ {
		if m := at.typ.Map(); m != nil {
			name := children[fields].Element.Name()
			if t, _ := m.Lookup(name); t != nil {
				children[fields].spots[i] = spot{t, at.value.Get(name), -1}
			}
		}
	}
	l := at.typ.List()
	if l == nil || fields == len(children) || at.value.Kind() != value.KindList {
		return
	}
	// All other children are items of a list. An index is the number of the item. Keys and values need
	// a search.
	items := children[fields:]
	for k := range items {
		if n := items[k].Element.Index(); items[k].Element.Kind() == fieldpath.KindIndex && 0 <= n && n < at.value.Len() {
			items[k].spots[i] = spot{l.Element(), at.value.Item(n), n}
		}
	}
	if l.Topology() == schema.SetList || l.Topology() == schema.KeyedList {
		w.locateItems(items, i, l, at.value)
	}
}

// locateItems finds the first item of the list v for each child. Items in the order of the children
// are found without a search.
func (w *walker) locateItems(children []child, i int, l *schema.List, v value.Value) {
	w.nodes += v.Len()
	next := 0 // the child after the last match
	for n := range v.Len() {
		item := v.Item(n)
		if defect(l, item) != "" {
			continue
		}
		e := elementOf(&w.texts, l, item)
		// Mostly the child after the last match has this item. Otherwise it is searched for.
		k := next
		if w.pairs++; k == len(children) || paths.Compare(children[k].Element, e) != 0 {
			found := false
			if k, found = w.search(children, e); !found {
				continue
			}
		}
		// Of duplicate items, the first counts.
		if next = k + 1; children[k].spots[i].item < 0 {
			children[k].spots[i] = spot{l.Element(), item, n}
		}
	}
}
