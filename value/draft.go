package value

import "slices"

// Converting a map after another document: containers of that document are taken over as long as
// nothing in them differs. An object that is made after {a:1, b:2, c:3}:
//
//	member   as before      as in the draft
//	a: 1     exactly        n = 1, nothing is stored
//	b: 9     differs        moved: a is put on the stack, and then the new b
//	c: 3     exactly        put on the stack
//
// Had b been 2, the outcome would have been the old object itself: the draft counts to 3 and stores
// nothing.
//
// Invariants of a memberDraft:
//
//	!moved: the members so far are exactly old[:n]
//	moved:  the members so far are the converter's open[first:]

// exactly reports whether v, which was converted after former, is the very same document.
// Containers are if they are former itself. A string is not taken from former: it might keep alive
// all of the text that former was read from.
func exactly(v, former Value) bool {
	return v.Same(former) || equalStrings(v, former)
}

// lookupFactor is how many times as many members an object may have as a map that is looked up by
// their names. Beyond that, it costs less to sort the names of the map.
const lookupFactor = 3

// objectAfter converts m by looking up the names of former's members, which come in order. Names
// that only m has are sorted in.
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

// others converts the members of m that the old object has not, except one.
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

// memberDraft is an object that is made after an old one. As long as its members are exactly the
// first of the old ones they are only counted; then they wait on the converter's stack.
type memberDraft struct {
	old    []Member // nil if there is no old object
	n      int      // how many members there are so far
	len    int      // how many there are to be
	moved  bool     // they are on the stack
	first  int      // of them on the stack
	shared int      // the converter's count before
}

// begin makes out, which is zero, a draft that is made after another object. It is not returned,
// since copying a struct that was just written field by field makes the processor wait.
func (c *converter) begin(out *memberDraft, former Value) {
	out.first, out.shared = len(c.open), c.shared
	if former.Kind() == KindObject {
		out.old = former.members()
	}
}

// add adds the member name. Its value v was converted after old member i.
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

// close takes the members of out from the stack and returns the object.
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

// itemDraft is a list that is made after an old one.
type itemDraft struct {
	old   []Value // nil if there is no old list
	items []Value // the new ones; nil as long as they are exactly old ones
	n     int     // how many there are so far
	len   int     // how many there are to be
}

// beginItems makes d, which is zero, a draft of n items that is made after another list.
func (c *converter) beginItems(d *itemDraft, n int, former Value) {
	d.len = n
	if former.Kind() == KindList && former.len() > 0 && n > 0 {
		d.old = former.items()
	} else {
		d.items = c.arena.items.Take(n)[:0]
	}
}

// oldItem returns old item i, and the absent Value if there is none.
func (d *itemDraft) oldItem(i int) Value {
	if i < len(d.old) {
		return d.old[i]
	}
	return Value{}
}

// add appends v, which was converted after the old item in its place.
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
