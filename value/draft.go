package value

import "slices"

// Conversion of a map, compared with the document before. A draft is an object or list that is
// being converted. It reuses the old container unless a part differs. Example for the old object
// {a:1, b:2, c:3}:
//
//	member   compared       draft
//	a: 1     equal          n = 1, nothing is stored
//	b: 9     differs        moved: the old a goes on the stack, then the new b
//	c: 3     equal          goes on the stack
//
// With b: 2, the draft would count to 3 and store nothing. The result would be the old object.
//
// Invariants of a memberDraft:
//
//	!moved: the members so far are exactly old[:n]
//	moved:  the members so far are the converter's open[first:]

// exactly reports whether v is the same document as former, the old value in its place. Containers
// must be the same storage. Strings need only be equal: conversion does not take a string from
// former, because it might keep alive the whole text that former was read from.
func exactly(v, former Value) bool {
	return v.Same(former) || equalStrings(v, former)
}

// lookupFactor is the largest ratio of old members to new members for a conversion by lookup.
// Beyond it, sorting the names of the map costs less.
const lookupFactor = 3

// objectAfter converts m by looking up the names of former's members, in order. It sorts only if m
// has other names.
func (c *converter) objectAfter(m map[string]any, former Value) (Value, *ConversionError) {
	if err := c.enter(); err != nil {
		return Value{}, err
	}
	var out memberDraft
	c.begin(&out, former)
	except, n := c.exceptIn(m)
	out.len = n
	for i := range out.old {
		old := &out.old[i]
		x, ok := m[old.Name]
		if !ok || except != nil && c.omits(except, old.Name, x) {
			continue
		}
		c.under = old.Name
		v, err := c.value(x, old.Value)
		if err != nil {
			return Value{}, err.within("." + old.Name)
		}
		c.add(&out, i, old.Name, v)
	}
	if out.n < n {
		c.move(&out)
		if err := c.others(m, except, &out); err != nil {
			return Value{}, err
		}
		sortStable(c.open[out.first:])
	}
	c.depth--
	return c.close(&out), nil
}

// others converts the members of m that the old object lacks and that except does not omit.
func (c *converter) others(m map[string]any, except []string, out *memberDraft) *ConversionError {
	for name, x := range m {
		if _, ok := search(out.old, name); ok || except != nil && c.omits(except, name, x) {
			continue
		}
		c.under = name
		v, err := c.value(x, Value{})
		if err != nil {
			return err.within("." + name)
		}
		c.open = append(c.open, Member{name, v})
	}
	return nil
}

// memberDraft is an object that is compared with an old one. It only counts its members while they
// equal the first old members. After that, its members are on the converter's stack.
type memberDraft struct {
	old    []Member // nil if there is no old object
	n      int      // number of members so far, without those that [converter.others] adds
	len    int      // number of members at the end
	moved  bool     // the members are on the stack
	first  int      // index of the first member on the stack
	shared int      // the converter's count at the start
}

// begin sets out, which is zero, to a draft that is compared with former. It does not return the
// draft: copying a struct that was just written field by field makes the processor wait.
func (c *converter) begin(out *memberDraft, former Value) {
	out.first, out.shared = len(c.open), c.shared
	if former.Kind() == KindObject {
		out.old = former.members()
	}
}

// add adds the member name with the value v. The old member i has the same name.
func (c *converter) add(out *memberDraft, i int, name string, v Value) {
	if i == out.n && !out.moved && exactly(v, out.old[i].Value) {
		out.n++
		return
	}
	c.move(out)
	c.open = append(c.open, Member{name, v})
	out.n++
}

// move puts the members that were only counted on the stack.
func (c *converter) move(out *memberDraft) {
	if !out.moved {
		c.open = append(slices.Grow(c.open, out.len), out.old[:out.n]...)
		out.moved = true
	}
}

// close removes the members of out from the stack and returns the object.
func (c *converter) close(out *memberDraft) Value {
	if !out.moved && out.n == len(out.old) {
		c.shared += min(out.n, 1)
		return fromMembers(out.old)
	}
	c.move(out)
	v := c.arena.object(c.open[out.first:], c.shared > out.shared)
	clear(c.open[out.first:])
	c.open = c.open[:out.first]
	return v
}

// itemDraft is a list that is compared with an old one.
type itemDraft struct {
	old   []Value // nil if there is no old list
	items []Value // the new items; nil while they equal the old ones
	n     int     // number of items so far
	len   int     // number of items at the end
}

// beginItems sets d, which is zero, to a draft of n items that is compared with former.
func (c *converter) beginItems(d *itemDraft, n int, former Value) {
	d.len = n
	if former.Kind() == KindList && former.len() > 0 && n > 0 {
		d.old = former.items()
	} else {
		d.items = c.arena.items.Take(n)[:0]
	}
}

// oldItem returns old item i, or the absent Value if there is none.
func (d *itemDraft) oldItem(i int) Value {
	if i < len(d.old) {
		return d.old[i]
	}
	return Value{}
}

// add appends v.
func (d *itemDraft) add(v Value) {
	i := d.n
	d.n++
	if d.items == nil {
		if i < len(d.old) && exactly(v, d.old[i]) {
			return
		}
		d.items = append(make([]Value, 0, d.len), d.old[:i]...)
	}
	d.items = append(d.items, v)
}

// closeItems returns the list.
func (c *converter) closeItems(d *itemDraft) Value {
	switch {
	case d.items != nil || d.len == 0:
		return fromItems(d.items)
	case d.len == len(d.old):
		c.shared++
		return fromItems(d.old)
	}
	return fromItems(append([]Value(nil), d.old[:d.len]...))
}
