package ownership

import (
	"slices"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Items of lists in the walk of owners: the element of each item, and the owners of each element.

// place is the element and the index of an item in a list.
type place struct {
	element fieldpath.Element
	index   int
}

// items finds the hits of the sets at the items of a list, and yields the items in list order.
// Items with the same element have the same owners, so only the first of them is looked up.
func (w *ownerWalk) items(l *schema.List, v value.Value, at []stand) bool {
	places, sorted := w.places(l, v)
	hits := w.meet(at, func(e fieldpath.Element) int {
		i, found := slices.BinarySearchFunc(sorted, e, func(p place, e fieldpath.Element) int { return paths.Compare(p.element, e) })
		if !found {
			return -1
		}
		return sorted[i].index
	})
	// The first item with an element stands for all items that have it.
	first := firstOfEach(sorted)
	owners := make([][]Owner, len(places)) // of the first item with each element; the others have no hits
	for i, p := range places {
		w.nodes++
		var here []hit
		here, hits = cutPart(hits, i)
		owners[i] = w.ownersOf(here)
		if w.item != nil && p.element.Kind() == fieldpath.KindKey && !first[i].repeated {
			w.item(append(w.path, p.element), here)
		}
		if !w.part(p.element, l.Element(), v.Item(i), owners[first[i].index], here, first[i].repeated) {
			return false
		}
	}
	return true
}

// places returns the items of v with their elements, in list order and sorted. The element of an
// item without identity is its index.
func (w *ownerWalk) places(l *schema.List, v value.Value) (places, sorted []place) {
	places = make([]place, v.Len())
	for i := range places {
		element, ok := typing.ElementOf(&w.texts, l, v.Item(i))
		if !ok {
			element = fieldpath.Index(i)
		}
		places[i] = place{element, i}
	}
	sorted = slices.Clone(places)
	slices.SortStableFunc(sorted, func(a, b place) int { return paths.Compare(a.element, b.element) })
	return places, sorted
}

// standing has, for an item, the index of the first item with the same element. repeated says
// whether other items have that element, too.
type standing struct {
	index    int
	repeated bool
}

// firstOfEach returns the standing of each item, by its index. sorted has the items in the order of
// their elements, so items with the same element are adjacent:
//
//	items   0 a   1 b   2 a
//	sorted  0 a   2 a   1 b
//	out     0: first 0, repeated   1: first 1   2: first 0, repeated
func firstOfEach(sorted []place) []standing {
	out := make([]standing, len(sorted))
	for from := 0; from < len(sorted); {
		to := from + 1
		for to < len(sorted) && sorted[to].element == sorted[from].element {
			to++
		}
		for _, p := range sorted[from:to] {
			out[p.index] = standing{sorted[from].index, to-from > 1}
		}
		from = to
	}
	return out
}
