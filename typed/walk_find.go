package typed

import (
	"slices"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Looking the children of a place up in what stands there: entries of sets, members of objects, items
// of lists. Children and entries are in the same order, and items often are, so each is looked for
// from the last one that was found on.

// find looks children up in a set. Both are in order, so each entry of the set is searched from the
// one before on.
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

// search returns where e stands among children, or would stand, and whether it does. It looks at the
// first, then twice as far each time, and then between the last two that it looked at: the cost is
// the logarithm of where e is.
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

// locate looks children up in value number i of the walk, which is at the given spot.
func (w *walker) locate(children []child, i int, at spot) {
	switch {
	// There is nothing here, and nothing below.
	case at.value.IsAbsent():
		return
	// The path alone says what is meant: see Untyped.
	case at.typ == nil:
		w.locateUntyped(children, i, at.value)
		return
	}
	// Fields come first among children: each is a member of an object.
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
	// All others are items of a list. Indexes say which; keys and values have to be looked for.
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

// locateItems finds the first item of the list v for each of children that has one. Items that stand
// in the order of children are found at once.
func (w *walker) locateItems(children []child, i int, l *schema.List, v value.Value) {
	w.nodes += v.Len()
	next := 0 // behind the child that was found last
	for n := range v.Len() {
		item := v.Item(n)
		if defect(l, item) != "" {
			continue
		}
		e := elementOf(&w.texts, l, item)
		// The child behind the last one mostly has this item; if not, it is searched for.
		k := next
		if w.pairs++; k == len(children) || paths.Compare(children[k].Element, e) != 0 {
			found := false
			if k, found = w.search(children, e); !found {
				continue
			}
		}
		// Of an item that is there twice, the first counts.
		if next = k + 1; children[k].spots[i].item < 0 {
			children[k].spots[i] = spot{l.Element(), item, n}
		}
	}
}
