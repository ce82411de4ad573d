package value

import (
	"encoding"
	"reflect"
	"strconv"
)

// strings converts a map of strings by strings, such as labels and annotations.
func (c *converter) strings(m map[string]string, like Value) (Value, *ConversionError) {
	if err := c.enter(); err != nil {
		return Value{}, err
	}
	c.depth--
	if like.Kind() == KindObject && len(m) > 0 && like.len() <= lookupFactor*len(m) {
		return c.stringsLike(m, like), nil
	}
	out, i := c.arena.members.take(len(m)), 0
	for name, s := range m {
		out[i] = Member{name, fromString(s)}
		i++
	}
	sortStable(out)
	return fromMembers(out), nil
}

// stringsLike is [converter.objectLike] for a map of strings.
func (c *converter) stringsLike(m map[string]string, like Value) Value {
	var out memberDraft
	c.begin(&out, like)
	for i := range out.old {
		name := out.old[i].Name
		if s, ok := m[name]; ok {
			c.add(&out, i, name, fromString(s))
		}
	}
	if out.n < len(m) {
		c.move(&out)
		for name, s := range m {
			if _, ok := search(out.old, name); !ok {
				c.open = append(c.open, Member{name, fromString(s)})
			}
		}
		sortStable(c.open[out.first:])
	}
	return c.close(&out)
}

// dict converts a map that is not nil.
func (c *converter) dict(p *plan, v reflect.Value, like Value) (Value, *ConversionError) {
	if err := c.enter(); err != nil {
		return Value{}, err
	}
	first, shared := len(c.open), c.shared
	if err := c.entries(p, v, like); err != nil {
		return Value{}, err
	}
	c.depth--
	members := c.open[first:]
	if dup, ok := sortMembers(members); !ok {
		return Value{}, inexpressible("two keys of Go type %v print as %q", p.typ.Key(), members[dup].Name)
	}
	out := c.again(members, shared, like)
	clear(members)
	c.open = c.open[:first]
	return out, nil
}

// entries puts the members that v, a map, has on the stack, in any order.
func (c *converter) entries(p *plan, v reflect.Value, like Value) *ConversionError {
	box := c.boxFor(p)
	for entry := v.MapRange(); entry.Next(); {
		box.key.SetIterKey(entry)
		name, err := keyText(box.key)
		if err != nil {
			return err
		}
		box.elem.Elem().SetIterValue(entry)
		member, err := c.stored(p.elem, copyOf(box.elem), like.Get(name))
		if err != nil {
			return err.within("." + name)
		}
		c.open = append(c.open, Member{name, member})
	}
	box.key.SetZero()
	box.elem.Elem().SetZero()
	c.box = box
	return nil
}

// mapBox has room for one entry of a map of the type that plan is for.
type mapBox struct {
	plan *plan
	key  reflect.Value
	elem reflect.Value // its address
}

// boxFor returns the box that the last map had, if that was of the same type, or a new one. It is taken away from the converter: a
// map inside the map needs another.
func (c *converter) boxFor(p *plan) mapBox {
	if box := c.box; box.plan == p {
		c.box = mapBox{}
		return box
	}
	return mapBox{p, reflect.New(p.typ.Key()).Elem(), reflect.New(p.elem.typ)}
}

// again returns the object of members, which is like if that has exactly the same; shared is the converter's count before. They are
// copied as [converter.close] says.
func (c *converter) again(members []Member, shared int, like Value) Value {
	switch {
	case areMembers(members, like):
		c.shared += min(len(members), 1)
		return like
	case c.shared > shared:
		return fromMembers(append([]Member(nil), members...))
	}
	return c.arena.object(members)
}

// areMembers reports whether v is the object of exactly members.
func areMembers(members []Member, v Value) bool {
	if v.Kind() != KindObject || v.len() != len(members) {
		return false
	}
	for i, was := range v.members() {
		if members[i].Name != was.Name || !exactly(members[i].Value, was.Value) {
			return false
		}
	}
	return true
}

// keyText returns the name that a map key stands for.
func keyText(k reflect.Value) (string, *ConversionError) {
	if k.Kind() == reflect.String {
		return k.String(), nil
	}
	if m, ok := reflect.TypeAssert[encoding.TextMarshaler](k); ok {
		if isNil(k) {
			return "", nil
		}
		text, err := m.MarshalText()
		if err != nil {
			return "", failure("MarshalText", k.Type(), err)
		}
		return string(text), nil
	}
	if k.CanInt() {
		return strconv.FormatInt(k.Int(), 10), nil
	}
	if k.CanUint() {
		return strconv.FormatUint(k.Uint(), 10), nil
	}
	return "", inexpressible("a key of Go type %v is nil", k.Type())
}
