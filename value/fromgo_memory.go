package value

import (
	"fmt"
	"reflect"
)

// direct is reflected for a value that has an address: it reads the shapes that structs are mostly made of where they lie in memory,
// as the plan says, and leaves all others to reflection.
func (c *converter) direct(p *plan, m memory, like Value) (Value, *ConversionError) {
	if p.prints == noMethod && p.addrPrints == noMethod {
		switch p.shape {
		case shapeStruct:
			c.values++
			return c.structAt(p, m, like)
		case shapeString:
			c.values++
			return fromString(m.str()), nil
		case shapeInt:
			c.values++
			return Int(m.integer(p.kind)), nil
		case shapeBool:
			c.values++
			return Bool(m.boolean()), nil
		case shapeSlice:
			c.values++
			return c.sliceAt(p, m, like)
		case shapePointer:
			if !m.isNil() && c.pointers < MaxDepth {
				c.pointers++
				out, err := c.direct(p.elem, m.target(), like)
				c.pointers--
				return out, err
			}
		}
	}
	return c.reflected(p, m.value(p.typ), like)
}

// structAt is structure for a struct that lies at m.
func (c *converter) structAt(p *plan, m memory, like Value) (Value, *ConversionError) {
	if err := c.enter(); err != nil {
		return Value{}, err
	}
	out := c.membersLike(like)
	for i := range p.fields {
		f := &p.fields[i]
		at := m.field(f.offset)
		if !f.direct {
			v, ok := f.in(m.value(p.typ))
			if !ok {
				continue
			}
			at = memoryOf(v)
		}
		if f.omitEmpty && isEmptyAt(f.plan, at) || f.omitZero != neverZero && f.isZero(at.value(f.plan.typ)) {
			continue
		}
		old, was := out.seek(f.name)
		member, err := c.direct(f.plan, at, was)
		if err != nil {
			return Value{}, err.within("." + f.name)
		}
		if f.quoted {
			member = quote(f.plan, at.value(f.plan.typ), member)
		}
		c.add(&out, old, f.name, member)
	}
	c.depth--
	return c.close(&out), nil
}

// isEmptyAt is isEmpty for the value of plan p at m.
func isEmptyAt(p *plan, m memory) bool {
	switch p.kind {
	case reflect.String:
		return m.str() == ""
	case reflect.Slice:
		_, n := m.slice()
		return n == 0
	case reflect.Pointer:
		return m.isNil()
	case reflect.Map:
		if m.isNil() {
			return true
		}
	case reflect.Bool:
		return !m.boolean()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return m.integer(p.kind) == 0
	}
	return isEmpty(m.value(p.typ))
}

// sliceAt is elements for the slice at m.
func (c *converter) sliceAt(p *plan, m memory, like Value) (Value, *ConversionError) {
	first, n := m.slice()
	if first.isNowhere() {
		return Null(), nil
	}
	if err := c.enter(); err != nil {
		return Value{}, err
	}
	out, size := c.itemsLike(n, like), p.elem.typ.Size()
	for i := range n {
		item, err := c.direct(p.elem, first.field(uintptr(i)*size), out.was(i))
		if err != nil {
			return Value{}, err.within(fmt.Sprintf("[%d]", i))
		}
		out.add(item)
	}
	c.depth--
	return c.closeItems(&out), nil
}
