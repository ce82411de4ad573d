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
	if hasStrings(m, like) {
		c.shared++
		return like, nil
	}
	out, i := c.arena.members.take(len(m)), 0
	for name, s := range m {
		out[i] = Member{name, fromString(s)}
		i++
	}
	sortStable(out)
	return fromMembers(out), nil
}

// hasStrings reports whether v, an object that has members, is m.
func hasStrings(m map[string]string, v Value) bool {
	if v.Kind() != KindObject || v.len() == 0 || v.len() != len(m) {
		return false
	}
	for _, member := range v.members() {
		if s, ok := m[member.Name]; !ok || !exactly(fromString(s), member.Value) {
			return false
		}
	}
	return true
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
	key, elem := reflect.New(p.typ.Key()).Elem(), reflect.New(p.elem.typ)
	for entry := v.MapRange(); entry.Next(); {
		key.SetIterKey(entry)
		name, err := keyText(key)
		if err != nil {
			return err
		}
		elem.Elem().SetIterValue(entry)
		member, err := c.stored(p.elem, copyOf(elem), like.Get(name))
		if err != nil {
			return err.within("." + name)
		}
		c.open = append(c.open, Member{name, member})
	}
	return nil
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
