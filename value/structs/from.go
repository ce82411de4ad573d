package structs

import (
	"encoding/base64"
	"fmt"
	"reflect"

	"github.com/deed-project/deed/internal/jsontext"
	"github.com/deed-project/deed/value"
)

// boxed converts v, the content of an interface. former is the value in the same place of the
// earlier document.
func (c *converter) boxed(v any, former value.Value) (value.Value, *fault) {
	r := reflect.ValueOf(v)
	p := planOf(r.Type())
	switch {
	case p.shape == shapePointer && p.prints == noMethod:
		if r.IsNil() {
			return value.Null(), nil
		}
		return c.pointed(p, memoryOf(r), former)
	case p.prints != noMethod:
		if isNil(r) {
			return value.Null(), nil
		}
		return c.printed(p, p.prints, v, former)
	}
	box := reflect.New(p.typ)
	box.Elem().Set(r)
	return c.stored(p, copyOf(box), former)
}

// stored converts the Go value at m, whose plan is p. former is the value in the same place of the
// earlier document.
func (c *converter) stored(p *plan, m memory, former value.Value) (value.Value, *fault) {
	if p.prints != noMethod || p.addrPrints != noMethod && m.addressable {
		return c.printing(p, m, former)
	}
	switch p.shape {
	case shapeString:
		return value.String(read[string](m)), nil
	case shapeStruct:
		return c.structure(p, m, former)
	case shapeSlice, shapePointer, shapeStrings, shapeMap, shapeInterface, shapeBytes:
		if m.isNil() {
			return value.Null(), nil
		}
		return c.referred(p, m, former)
	case shapeInt:
		return value.Int(p.int(m)), nil
	case shapeBool:
		return value.Bool(read[bool](m)), nil
	case shapeUint:
		return fromUint(p.uint(m))
	case shapeFloat:
		if p.size == 4 {
			return fromFloat(jsontext.Widen(read[float32](m)))
		}
		return fromFloat(read[float64](m))
	case shapeNumber:
		return fromNumber(read[string](m))
	case shapeArray:
		return c.elements(p, m, p.typ.Len(), former)
	case shapeValue:
		return present(read[value.Value](m)), nil
	}
	return value.Value{}, inexpressible("a value of Go type %v is no JSON value", p.typ)
}

// referred converts a pointer, an interface, a slice or a map that is not nil.
func (c *converter) referred(p *plan, m memory, former value.Value) (value.Value, *fault) {
	switch p.shape {
	case shapePointer:
		return c.pointed(p, m.target(), former)
	case shapeSlice:
		first, n := m.elements()
		return c.elements(p, first, n, former)
	case shapeStrings:
		return c.strings(read[map[string]string](m), former)
	case shapeMap:
		return c.dict(p, m.reflect(p.typ), former)
	case shapeBytes:
		return value.String(base64.StdEncoding.EncodeToString(read[[]byte](m))), nil
	}
	return c.value(m.reflect(p.typ).Interface(), former)
}

// pointed converts target, the target of a pointer whose plan is p.
func (c *converter) pointed(p *plan, target memory, former value.Value) (value.Value, *fault) {
	if c.pointers++; c.pointers > value.MaxDepth {
		return value.Value{}, inexpressible("nested deeper than %d", value.MaxDepth)
	}
	out, err := c.stored(p.elem, target, former)
	c.pointers--
	return out, err
}

// structure converts a struct. Its members are on a stack until all are known, because a field may
// be omitted. The fields of the plan and the members of former are both in name order.
func (c *converter) structure(p *plan, m memory, former value.Value) (value.Value, *fault) {
	if err := c.enter(); err != nil {
		return value.Value{}, err
	}
	var out objectDraft
	c.begin(&out, former)
	next := 0
	fields := p.fields
	for i := range fields {
		f := &fields[i]
		at, ok := f.in(m)
		if !ok || f.isZeroWord(at) || f.omits(at) {
			continue
		}
		old, former := out.find(f.name, next)
		if old >= 0 {
			next = old + 1
			if f.text && out.expects(old) && values.IsString(former, read[string](at)) {
				out.n++ // as add does; most fields take this path
				continue
			}
		}
		member, err := c.stored(f.plan, at, former)
		if err != nil {
			return value.Value{}, err.within("." + f.name)
		}
		if f.quoted {
			member = quote(f.plan, at, member)
		}
		c.add(&out, old, f.name, member)
	}
	c.depth--
	return c.close(&out), nil
}

// in returns the memory of the field in the struct at m. It returns false if an embedded pointer on
// the way to the field is nil.
func (f *field) in(m memory) (memory, bool) {
	for i := range f.hops {
		m = m.after(f.hops[i].offset)
		if m.isNil() {
			return m, false
		}
		m = m.target()
	}
	return m.after(f.offset), true
}

// quote implements the tag option "string": it returns a string with the JSON text of member, which
// was converted from m. A nil pointer stays null, and the result of a method stays as it is.
func quote(p *plan, m memory, member value.Value) value.Value {
	for p.shape == shapePointer && !m.isNil() {
		p, m = p.elem, m.target()
	}
	if p.shape == shapePointer || p.prints != noMethod || p.addrPrints != noMethod && m.addressable {
		return member
	}
	if p.shape == shapeNumber && read[string](m) != "" {
		return value.String(read[string](m))
	}
	return value.String(string(member.AppendJSON(nil)))
}

// elements converts an array or a slice of n elements.
func (c *converter) elements(p *plan, first memory, n int, former value.Value) (value.Value, *fault) {
	if err := c.enter(); err != nil {
		return value.Value{}, err
	}
	var out listDraft
	c.beginList(&out, n, former)
	for i := range n {
		item, err := c.stored(p.elem, first.after(uintptr(i)*p.elem.size), out.item(i))
		if err != nil {
			return value.Value{}, err.within(fmt.Sprintf("[%d]", i))
		}
		out.add(item)
	}
	c.depth--
	return c.closeList(&out), nil
}

// printing converts the Go value at m, whose plan is p, by its method. It calls the method on the
// address, even if the value has the method: the address has it too, and needs no copy.
func (c *converter) printing(p *plan, m memory, former value.Value) (value.Value, *fault) {
	if k := p.typ.Kind(); k == reflect.Pointer || k == reflect.Interface {
		if m.isNil() {
			return value.Null(), nil
		}
		if k == reflect.Interface || !c.printouts || p.elem.printouts.sets == nil {
			return c.printed(p, p.prints, m.reflect(p.typ).Interface(), former)
		}
		p, m = p.elem, m.target()
	}
	how := p.prints
	if m.addressable {
		how = p.addrPrints
	}
	if c.printouts && p.printouts.sets != nil {
		return p.printouts.again(m, former, func() (value.Value, *fault) {
			return c.printed(p, how, m.address(p.typ), former)
		})
	}
	return c.printed(p, how, m.address(p.typ), former)
}
