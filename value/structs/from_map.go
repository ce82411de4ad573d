package structs

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/deed-project/deed/value"
)

// lookupFactor is the largest ratio of members of former to entries of a map for a conversion by
// lookup. Beyond it, sorting the names of the map costs less.
const lookupFactor = 3

// resembles reports whether to convert a map of n entries by looking up the names of former.
func resembles(former value.Value, n int) bool {
	return former.Kind() == value.KindObject && n > 0 && former.Len() <= lookupFactor*n
}

// strings converts a map of strings by strings, such as labels and annotations.
func (c *converter) strings(m map[string]string, former value.Value) (value.Value, *fault) {
	if err := c.enter(); err != nil {
		return value.Value{}, err
	}
	c.depth--
	if resembles(former, len(m)) {
		return c.stringsAfter(m, former), nil
	}
	out, i := c.members.Take(len(m)), 0
	for name, s := range m {
		out[i] = value.Member{Name: name, Value: value.String(s)}
		i++
	}
	return value.Object(out...), nil
}

// stringsAfter converts m by looking up the names of former, in order. Then it adds the names that
// former lacks.
func (c *converter) stringsAfter(m map[string]string, former value.Value) value.Value {
	var out objectDraft
	c.begin(&out, former)
	for i := range out.members {
		name := out.members[i].Name
		if s, ok := m[name]; ok {
			c.add(&out, i, name, value.String(s))
		}
	}
	if out.n < len(m) {
		c.move(&out)
		for name, s := range m {
			if former.Get(name).IsAbsent() {
				c.open = append(c.open, value.Member{Name: name, Value: value.String(s)})
			}
		}
		value.Object(c.open[out.first:]...) // sorts them
	}
	return c.close(&out)
}

// anyMap converts a map of an unstructured object. Its members may be of any type.
func (c *converter) anyMap(m map[string]any, former value.Value) (value.Value, *fault) {
	if m == nil {
		return value.Null(), nil
	}
	if err := c.enter(); err != nil {
		return value.Value{}, err
	}
	first, shared := len(c.open), c.shared
	for name, x := range m {
		member, err := c.value(x, former.Get(name))
		if err != nil {
			return value.Value{}, err.within("." + name)
		}
		c.open = append(c.open, value.Member{Name: name, Value: member})
	}
	c.depth--
	return c.again(first, shared, former), nil
}

// anyList converts a list of an unstructured object.
func (c *converter) anyList(l []any, former value.Value) (value.Value, *fault) {
	if l == nil {
		return value.Null(), nil
	}
	if err := c.enter(); err != nil {
		return value.Value{}, err
	}
	var out listDraft
	c.beginList(&out, len(l), former)
	for i, x := range l {
		item, err := c.value(x, out.item(i))
		if err != nil {
			return value.Value{}, err.within(fmt.Sprintf("[%d]", i))
		}
		out.add(item)
	}
	c.depth--
	return c.closeList(&out), nil
}

// dict converts a map that is not nil.
func (c *converter) dict(p *plan, v reflect.Value, former value.Value) (value.Value, *fault) {
	if err := c.enter(); err != nil {
		return value.Value{}, err
	}
	first, shared := len(c.open), c.shared
	if err := c.entries(p, v, former); err != nil {
		return value.Value{}, err
	}
	c.depth--
	if p.alike {
		if err := oneOfEachName(p, c.open[first:]); err != nil {
			return value.Value{}, err
		}
	}
	return c.again(first, shared, former), nil
}

// oneOfEachName sorts members, which come from a map whose plan is p. It fails if two members have
// the same name.
func oneOfEachName(p *plan, members []value.Member) *fault {
	slices.SortFunc(members, func(a, b value.Member) int { return strings.Compare(a.Name, b.Name) })
	for i := 1; i < len(members); i++ {
		if members[i].Name == members[i-1].Name {
			return inexpressible("two keys of Go type %v print as %q", p.typ.Key(), members[i].Name)
		}
	}
	return nil
}

// entries converts the entries of v, a map, and puts them on the stack in any order.
func (c *converter) entries(p *plan, v reflect.Value, former value.Value) *fault {
	box := c.boxFor(p)
	for entry := v.MapRange(); entry.Next(); {
		box.key.SetIterKey(entry)
		name, err := keyText(box.key)
		if err != nil {
			return err
		}
		box.elem.Elem().SetIterValue(entry)
		member, err := c.stored(p.elem, copyOf(box.elem), former.Get(name))
		if err != nil {
			return err.within("." + name)
		}
		c.open = append(c.open, value.Member{Name: name, Value: member})
	}
	box.key.SetZero()
	box.elem.Elem().SetZero()
	c.box = box
	return nil
}

// mapBox holds one entry of a map whose plan is plan.
type mapBox struct {
	plan *plan
	key  reflect.Value
	elem reflect.Value // address of the element
}

// boxFor returns the box of the last map if it has the same type, or a new box. It removes the box
// from the converter, because a map inside the map needs another one.
func (c *converter) boxFor(p *plan) mapBox {
	if box := c.box; box.plan == p {
		c.box = mapBox{}
		return box
	}
	return mapBox{p, reflect.New(p.typ.Key()).Elem(), reflect.New(p.elem.typ)}
}

// again removes the members from first on from the stack, in any order, and returns their object.
// If the members equal the members of former, again returns former. shared is the converter's count
// at the start. [converter.close] copies the members.
func (c *converter) again(first, shared int, former value.Value) value.Value {
	members := c.open[first:]
	v := value.Object(members...) // sorts them
	out := objectDraft{first: first, shared: shared, moved: true}
	if isExactly(v, former) {
		out = objectDraft{members: values.Members(former), n: former.Len(), first: first, shared: shared}
		clear(members)
		c.open = c.open[:first]
	}
	return c.close(&out)
}

// isExactly reports whether former is an object and has exactly the members of v, an object.
func isExactly(v, former value.Value) bool {
	return former.Kind() == value.KindObject &&
		slices.EqualFunc(values.Members(v), values.Members(former), func(a, b value.Member) bool {
			return a.Name == b.Name && values.Exactly(a.Value, b.Value)
		})
}

// keyText returns the name of the member for the map key k.
func keyText(k reflect.Value) (string, *fault) {
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
