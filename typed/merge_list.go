package typed

import (
	"slices"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Merges of sets and keyed lists. Identity decides which items the result has, and rule M4 decides
// their order. Mostly, config's items are some of live's items in the same order: aligned merges
// such lists without an index. A zipper merges all other lists.

// list merges two sets or keyed lists that both have items, by rules M4 and M5.
func (m *merger) list(l *schema.List, live, config value.Value) value.Value {
	if out, ok := m.aligned(l, live, config); ok {
		return out
	}
	first, lives, configs := len(m.items), values.Items(live), values.Items(config)
	z := m.zip(l, lives, configs)
	z.run(func(liveItem, configItem int) {
		var a, b value.Value
		if liveItem >= 0 {
			a = lives[liveItem]
		}
		if configItem >= 0 {
			if b = configs[configItem]; liveItem >= 0 && z.repeated(liveItem) {
				a = value.Null() // there is no single live item to merge with
			}
		}
		merged := m.node(l.Element(), a, b)
		m.items = append(m.items, merged)
	})
	out := live
	if !slices.EqualFunc(lives, m.items[first:], value.Value.Same) {
		out = value.List(slices.Clone(m.items[first:])...)
	}
	m.items = m.items[:first]
	return out
}

// aligned merges the common case without an index: config's items are some of live's, in live's
// order. It returns false in all other cases, and if live is not tidy.
//
//	live  a b c d    config  b d    places 1 3    aligned: the result has live's order
//	live  a b c d    config  d b    places 3      no b after d: not aligned
//	live  a b c d    config  b x    places 1      live has no x: not aligned
//
// Invariants: places[first:] ascends strictly, and live's item places[first+c] has the identity of
// config's item c. Cost: linear in both lists.
func (m *merger) aligned(l *schema.List, live, config value.Value) (value.Value, bool) {
	lives, configs := values.Items(live), values.Items(config)
	if !m.tidy || len(configs) > len(lives) {
		return value.Value{}, false
	}
	first, at := len(m.places), 0
	for _, item := range configs {
		for at < len(lives) && !sameItem(l, lives[at], item) {
			at++
		}
		if at == len(lives) {
			m.places = m.places[:first]
			return value.Value{}, false
		}
		m.places = append(m.places, int32(at))
		at++
	}
	var items []value.Value // of the result, once it differs from live
	for c, item := range configs {
		at := m.places[first+c]
		if merged := m.node(l.Element(), lives[at], item); !merged.Same(lives[at]) {
			if items == nil {
				items = slices.Clone(lives)
			}
			items[at] = merged
		}
	}
	m.places = m.places[:first]
	if items == nil {
		return live, true
	}
	return value.List(items...), true
}

// zipper finds the order of a merged list. It refers to items by their numbers; -1 means no item.
type zipper struct {
	liveOf   []int32 // for each config item: the first live item with its identity, or -1
	configOf []int32 // for each live item: the config item with its identity, or -1
	firstOf  []int32 // for each live item: the first live item with its identity
	count    []int32 // for each live item that is the first with its identity: how many have it
}

// repeated reports whether other live items have the identity of the given one.
func (z *zipper) repeated(live int) bool { return z.count[z.firstOf[live]] > 1 }

// zip prepares the merge of the items of live and config.
func (m *merger) zip(l *schema.List, live, config []value.Value) *zipper {
	n := len(live)
	room := make([]int32, len(config)+3*n)
	z := &zipper{configOf: room[:n], firstOf: room[n : 2*n], count: room[2*n : 3*n], liveOf: room[3*n:]}
	m.index.reset(l, live)
	for i := range n {
		first := m.index.add()
		z.firstOf[i] = int32(first)
		z.count[first]++
		z.configOf[i] = -1
	}
	for c := range z.liveOf {
		i := m.index.find(config[c])
		z.liveOf[c] = int32(i)
		if i >= 0 {
			z.configOf[i] = int32(c)
		}
	}
	for i := range n {
		z.configOf[i] = z.configOf[z.firstOf[i]]
	}
	return z
}

// run calls emit once for each item of the result, in order. The arguments are the numbers of the
// live item and of the config item that make up the result's item. The cursors live and config go
// through the lists. anchor is the next config item, from the cursor on, that live has too:
//
//	live    a b c d        config  x c a y
//
//	live  config  anchor   the case                      the result so far
//	a     x       c        config has a elsewhere: skip  -
//	b     x       c        only live has it              b
//	c     x       c        the anchor: config's next     b x
//	c     c       c        both are at the same item     b x c
//	d     a       a        only live has it              b x c d
//	end   a       a        config's next                 b x c d a
//	end   y       none     config's next                 b x c d a y
//
// Invariants, at the head of the loop:
//
//	config <= anchor, and live has no config item k with config <= k < anchor.
//	merged[k] for exactly the config items k < config.
//	Each live item in front of its cursor has been emitted, or config has it.
//
// Cost: linear in both lists, because each round moves a cursor.
func (z *zipper) run(emit func(live, config int)) {
	live, config := 0, 0
	merged := make([]bool, len(z.liveOf)) // config items that were emitted
	anchor := z.anchorFrom(0)
	for live < len(z.configOf) || config < len(z.liveOf) {
		if live < len(z.configOf) {
			mine := int(z.configOf[live]) // the config item with the identity of the live one
			switch {
			case mine >= 0 && mine == config: // both cursors are at the same item
				emit(live, config)
				merged[config] = true
				live++
				config++
				anchor = z.anchorFrom(anchor + 1)
				continue
			case mine >= 0 && config < len(z.liveOf) && anchor < len(z.liveOf) && anchor != mine: // config has it elsewhere
				live++
				continue
			case mine < 0: // only live has it
				emit(live, -1)
				live++
				continue
			case merged[mine]: // config has passed its place
				live++
			}
		}
		if config < len(z.liveOf) { // config's next item, with or without a live one
			emit(int(z.liveOf[config]), config)
			merged[config] = true
			if config == anchor {
				anchor = z.anchorFrom(anchor + 1)
			}
			config++
		}
	}
}

// anchorFrom returns the first config item from c on that live has too, or else the number of
// config items.
func (z *zipper) anchorFrom(c int) int {
	for c < len(z.liveOf) && z.liveOf[c] < 0 {
		c++
	}
	return c
}
