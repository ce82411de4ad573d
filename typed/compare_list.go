package typed

import (
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Comparison of the items of sets and keyed lists, by rules C4 and C5. Items are paired by
// identity. Two tidy lists are passed in step. If a list may hold duplicates, the items are
// grouped.
//
// Cost: linear in the items of both lists, by hashing.

// lists compares the items of two sets or keyed lists. A value of another kind has no items.
func (c *comparer) lists(l *schema.List, old, new value.Value) {
	if c.tidy {
		c.tidyLists(l, values.Items(old), values.Items(new))
		return
	}
	for _, g := range c.group(l, old, new) {
		c.groups(l, g)
	}
}

// tidyLists compares two lists without duplicates. Most items have the same place in both lists.
// Only the items from the first other one on are indexed:
//
//	old  a b c d      a and b have the same place; c and x do not match
//	new  a b x c      the rests c d and x c are indexed
//
//	c    in both      compared
//	d    in old       removed with all below it
//	x    in new       added with all below it
//
// Invariant: old[:i] and new[:i] have the same identities in the same order.
func (c *comparer) tidyLists(l *schema.List, old, new []value.Value) {
	i := 0
	for ; i < len(old) && i < len(new); i++ {
		a, b := old[i], new[i]
		if a.Equal(b) {
			continue
		}
		if !sameItem(l, a, b) {
			break
		}
		c.below(elementOf(&c.texts, l, a), l.Element(), a, b)
	}
	if i == len(old) && i == len(new) {
		return
	}
	var oldRest, newRest index // lists inside items have their own
	oldRest.fill(l, old[i:])
	newRest.fill(l, new[i:])
	defer func() { c.pairs += oldRest.pairs + newRest.pairs }()
	for _, item := range old[i:] {
		if k := newRest.find(item); k >= 0 {
			c.pair(l, item, newRest.items[k])
		} else {
			c.wholeItem(&c.removed, l, item)
		}
	}
	for _, item := range new[i:] {
		if oldRest.find(item) < 0 {
			c.wholeItem(&c.added, l, item)
		}
	}
}

// wholeItem adds an item of the list that the walk is at, and everything below the item, to s.
func (c *comparer) wholeItem(s *side, l *schema.List, item value.Value) {
	s.follow(c.path)
	c.wholeBelow(s, elementOf(&c.texts, l, item), l.Element(), item)
}

// fill makes x an index of all items.
func (x *index) fill(l *schema.List, items []value.Value) {
	x.reset(l, items)
	for range items {
		x.add()
	}
}

// pair compares two items of the same identity. Most pairs are equal and need no element.
func (c *comparer) pair(l *schema.List, old, new value.Value) {
	if !old.Equal(new) {
		c.below(elementOf(&c.texts, l, old), l.Element(), old, new)
	}
}

// group holds the items of one identity.
type group struct {
	element  fieldpath.Element
	old, new []value.Value
}

// group groups the items of two lists by identity, in the order of their first occurrence.
func (c *comparer) group(l *schema.List, old, new value.Value) []group {
	items := appendItems(nil, &c.texts, l, old, false)
	oldLen := len(items)
	items = appendItems(items, &c.texts, l, new, false)
	byElement := make(map[fieldpath.Element]int, len(items))
	var groups []group
	for i, at := range items {
		g, ok := byElement[at.element]
		if !ok {
			g = len(groups)
			byElement[at.element] = g
			groups = append(groups, group{element: at.element})
		}
		if i < oldLen {
			groups[g].old = append(groups[g].old, at.item)
		} else {
			groups[g].new = append(groups[g].new, at.item)
		}
	}
	return groups
}

// groups compares the items of one identity, by rules C4 and C5:
//
//	old    new    result
//	0, 1   0, 1   their differences; an item on one side only is added or removed with all below it
//	many   many   the path is modified, unless both have the same items in the same order
//	many   1      the path is removed, without what is below it, and the single item is added
//	many   0      the path is removed, likewise
//	1      many   the path is added, without what is below it, and the single item is removed
//	0      many   the path is added, likewise
func (c *comparer) groups(l *schema.List, g group) {
	switch {
	case len(g.old) <= 1 && len(g.new) <= 1:
		c.below(g.element, l.Element(), only(g.old), only(g.new))
	case len(g.old) >= 2 && len(g.new) >= 2:
		if !value.List(g.old...).Equal(value.List(g.new...)) {
			c.markBelow(&c.modified, g.element)
		}
	case len(g.old) >= 2:
		if len(g.new) == 1 {
			c.below(g.element, l.Element(), value.Value{}, g.new[0])
		}
		c.markBelow(&c.removed, g.element)
	default:
		if len(g.old) == 1 {
			c.below(g.element, l.Element(), g.old[0], value.Value{})
		}
		c.markBelow(&c.added, g.element)
	}
}

// only returns the single item of items, or absent if there is none.
func only(items []value.Value) value.Value {
	if len(items) == 0 {
		return value.Value{}
	}
	return items[0]
}
