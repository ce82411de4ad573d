package value

import "fmt"

// FromAnyLike is [FromAny] for a v that is expected to be much like an earlier document. Parts that are exactly what like has in
// the same place, members by name and items by number, are like's own: a v that is the same document as like gives like
// itself, see [Value.Same]. Otherwise it returns what FromAny returns, whatever like is.
//
// Parts that are the same cost no memory and need not be sorted, and a walk that compares the result with like stops at
// them.
func FromAnyLike(v any, like Value) (Value, error) {
	c := converters.Get().(*converter)
	out, _, err := c.alike(v, like)
	c.release()
	if err != nil {
		return Value{}, err.located()
	}
	return out, nil
}

// alike converts v, and reports whether that is the very same document as like. It returns like itself if both are containers:
// a string of like might keep all of the text alive that like was read from.
func (c *converter) alike(v any, like Value) (out Value, same bool, err *ConversionError) {
	switch v := v.(type) {
	case string:
		return fromString(v), like.Kind() == KindString && like.str() == v, nil
	case map[string]any:
		if like.Kind() == KindObject && len(v) > 0 && like.len() <= lookupFactor*len(v) {
			return c.objectLike(v, like)
		}
	case []any:
		if like.Kind() == KindList && len(v) > 0 && like.len() > 0 {
			return c.listLike(v, like)
		}
	}
	out, err = c.value(v)
	return out, out.Same(like), err
}

// lookupFactor is how many times as many members an object may have as a map that is looked up by their names. Beyond that, it costs
// less to sort the names of the map.
const lookupFactor = 3

// objectLike converts m by looking up the names of like's members, which come in order. Names that only m has are sorted in.
func (c *converter) objectLike(m map[string]any, like Value) (out Value, same bool, err *ConversionError) {
	if err := c.enter(); err != nil {
		return Value{}, false, err
	}
	first, shared := len(c.open), c.shared
	same = len(m) == like.len()
	members := like.members()
	for i := range members {
		was := &members[i]
		x, ok := m[was.Name]
		if !ok {
			same = false
			continue
		}
		v, equal, err := c.alike(x, was.Value)
		if err != nil {
			return Value{}, false, err.within("." + was.Name)
		}
		same = same && equal
		c.open = append(c.open, Member{was.Name, v})
	}
	if len(c.open)-first < len(m) {
		if err := c.others(m, members); err != nil {
			return Value{}, false, err
		}
		sortStable(c.open[first:])
	}
	c.depth--
	if out = like; same {
		c.shared++
	} else {
		out = c.close(c.open[first:], c.shared > shared)
	}
	clear(c.open[first:])
	c.open = c.open[:first]
	return out, same, nil
}

// others converts the members of m that are not among known.
func (c *converter) others(m map[string]any, known []Member) *ConversionError {
	for name, x := range m {
		if _, ok := search(known, name); ok {
			continue
		}
		v, err := c.value(x)
		if err != nil {
			return err.within("." + name)
		}
		c.open = append(c.open, Member{name, v})
	}
	return nil
}

// close returns the object of members. One that holds parts of an earlier document gets memory of its own: an array of the
// arena lives as long as anything cut from it, and would keep alive the earlier document, that one's predecessor, and so on.
func (c *converter) close(members []Member, shared bool) Value {
	if shared {
		return fromMembers(append([]Member(nil), members...))
	}
	return c.arena.object(members)
}

// listLike converts l, which has items, as like has.
func (c *converter) listLike(l []any, like Value) (out Value, same bool, err *ConversionError) {
	if err := c.enter(); err != nil {
		return Value{}, false, err
	}
	was := like.items()
	var items []Value // once one differs
	for i, x := range l {
		var old Value
		if i < len(was) {
			old = was[i]
		}
		v, equal, err := c.alike(x, old)
		if err != nil {
			return Value{}, false, err.within(fmt.Sprintf("[%d]", i))
		}
		if !equal && items == nil {
			items = append(make([]Value, 0, len(l)), was[:i]...)
		}
		if items != nil {
			items = append(items, v)
		}
	}
	c.depth--
	switch {
	case items != nil:
		return fromItems(items), false, nil
	case len(l) == len(was):
		c.shared++
		return like, true, nil
	}
	return fromItems(append([]Value(nil), was[:len(l)]...)), false, nil
}
