package value

import (
	"encoding/base64"
	"fmt"
	"reflect"
)

// FromGo returns the document that v is in the eyes of encoding/json, without printing it: the result is Equal to that of
// [Parse] on what [json.Marshal] prints. In detail:
//
//  1. Structs are objects. Names, "-", omitempty, omitzero (with IsZero methods), string, and embedded structs count as in
//     encoding/json. A nil slice, map, pointer or interface that is not omitted is null, and a []byte is text in base64.
//  2. A type with MarshalJSON or MarshalText is what those return. A type with MarshalJSON and ToUnstructured or
//     ToUnstructuredWithError, as Kubernetes types have them, is what the latter returns.
//  3. Map keys are strings, integers or have MarshalText.
//  4. A [Value] stands for itself wherever it is found; the absent Value is null.
//  5. Strings are taken as they are, bytes that are not UTF-8 too, and share memory with v.
//
// Errors, always a [*ConversionError], are what JSON cannot express: channels, functions, complex numbers, infinite floats,
// NaN and cycles; nesting deeper than [MaxDepth]; two map keys with the same text; what a method returns as an error;
// and unsigned integers over the largest int64, which encoding/json would print.
func FromGo(v any) (Value, error) {
	c := converters.Get().(*converter)
	c.goTypes = true
	out, err := c.value(v, Value{})
	c.release()
	if err != nil {
		return Value{}, err.located()
	}
	return out, nil
}

// boxed converts v, which an interface holds, like another document.
func (c *converter) boxed(v any, like Value) (Value, *ConversionError) {
	r := reflect.ValueOf(v)
	p := planOf(r.Type())
	switch {
	case p.shape == shapePointer && p.prints == noMethod:
		if r.IsNil() {
			return Null(), nil
		}
		return c.pointed(p, memoryOf(r), like)
	case p.prints != noMethod:
		if isNil(r) {
			return Null(), nil
		}
		return c.printed(p, p.prints, v, like)
	}
	box := reflect.New(p.typ)
	box.Elem().Set(r)
	return c.stored(p, copyOf(box), like)
}

// stored converts what lies at m, whose type p is for, like another document.
func (c *converter) stored(p *plan, m memory, like Value) (Value, *ConversionError) {
	if p.prints != noMethod || p.addrPrints != noMethod && m.addressable {
		return c.printing(p, m, like)
	}
	switch p.shape {
	case shapeString:
		return fromString(read[string](m)), nil
	case shapeStruct:
		return c.structure(p, m, like)
	case shapeSlice, shapePointer, shapeStrings, shapeMap, shapeInterface, shapeBytes:
		if m.isNil() {
			return Null(), nil
		}
		return c.referred(p, m, like)
	case shapeInt:
		return Int(p.int(m)), nil
	case shapeBool:
		return Bool(read[bool](m)), nil
	case shapeUint:
		return fromUint(p.uint(m))
	case shapeFloat:
		if p.size == 4 {
			return fromFloat32(read[float32](m))
		}
		return fromFloat(read[float64](m))
	case shapeNumber:
		return fromNumber(read[string](m))
	case shapeArray:
		return c.elements(p, m, p.typ.Len(), like)
	case shapeValue:
		return c.value(read[Value](m), like)
	}
	return Value{}, inexpressible("a value of Go type %v is no JSON value", p.typ)
}

// referred converts a pointer, an interface, a slice or a map that is not nil.
func (c *converter) referred(p *plan, m memory, like Value) (Value, *ConversionError) {
	switch p.shape {
	case shapePointer:
		return c.pointed(p, m.target(), like)
	case shapeSlice:
		first, n := m.elements()
		return c.elements(p, first, n, like)
	case shapeStrings:
		return c.strings(read[map[string]string](m), like)
	case shapeMap:
		return c.dict(p, m.reflect(p.typ), like)
	case shapeBytes:
		return fromString(base64.StdEncoding.EncodeToString(read[[]byte](m))), nil
	}
	return c.value(m.reflect(p.typ).Interface(), like)
}

// pointed converts target, which a pointer of the type that p is for points to.
func (c *converter) pointed(p *plan, target memory, like Value) (Value, *ConversionError) {
	if c.pointers++; c.pointers > MaxDepth {
		return Value{}, inexpressible("nested deeper than %d", MaxDepth)
	}
	out, err := c.stored(p.elem, target, like)
	c.pointers--
	return out, err
}

// structure converts a struct. Its members wait on a stack until all are there, since a field may be omitted; the plan
// has them in name order, as like has its own.
func (c *converter) structure(p *plan, m memory, like Value) (Value, *ConversionError) {
	if err := c.enter(); err != nil {
		return Value{}, err
	}
	var out memberDraft
	c.begin(&out, like)
	next := 0
	for i := range p.fields {
		f := &p.fields[i]
		at, ok := f.in(m)
		if !ok || f.omits(at) {
			continue
		}
		old, was := out.find(f.name, next)
		if old >= 0 {
			next = old + 1
			if f.text && out.expects(old) && was.Kind() == KindString && was.str() == read[string](at) {
				out.n++ // what add would do; most fields are such
				continue
			}
		}
		member, err := c.stored(f.plan, at, was)
		if err != nil {
			return Value{}, err.within("." + f.name)
		}
		if f.quoted {
			member = quote(f.plan, at, member)
		}
		c.add(&out, old, f.name, member)
	}
	c.depth--
	return c.close(&out), nil
}

// in returns where the field of the struct at m lies, and false when an embedded pointer on the way to it is nil.
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

// quote returns the string that holds the JSON text of member, converted from m, as the tag option "string" wants it.
// A nil pointer stays null, and a method has the last word.
func quote(p *plan, m memory, member Value) Value {
	for p.shape == shapePointer && !m.isNil() {
		p, m = p.elem, m.target()
	}
	if p.shape == shapePointer || p.prints != noMethod || p.addrPrints != noMethod && m.addressable {
		return member
	}
	if p.shape == shapeNumber && read[string](m) != "" {
		return fromString(read[string](m))
	}
	return fromString(textOf(member.AppendJSON(nil)))
}

// elements converts an array or a slice of n elements.
func (c *converter) elements(p *plan, first memory, n int, like Value) (Value, *ConversionError) {
	if err := c.enter(); err != nil {
		return Value{}, err
	}
	var out itemDraft
	c.beginItems(&out, n, like)
	for i := range n {
		item, err := c.stored(p.elem, first.after(uintptr(i)*p.elem.size), out.was(i))
		if err != nil {
			return Value{}, err.within(fmt.Sprintf("[%d]", i))
		}
		out.add(item)
	}
	c.depth--
	return c.closeItems(&out), nil
}

// printing converts what lies at m by the method that its type, which p is for, has for it. The method is called on the address in
// either case, as that has the methods of the value too, and needs no copy.
func (c *converter) printing(p *plan, m memory, like Value) (Value, *ConversionError) {
	if k := p.typ.Kind(); k == reflect.Pointer || k == reflect.Interface {
		if m.isNil() {
			return Null(), nil
		}
		if k == reflect.Interface || !c.printouts || p.elem.printouts.sets == nil {
			return c.printed(p, p.prints, m.reflect(p.typ).Interface(), like)
		}
		p, m = p.elem, m.target()
	}
	how := p.prints
	if m.addressable {
		how = p.addrPrints
	}
	if c.printouts && p.printouts.sets != nil {
		return p.printouts.again(m, like, func() (Value, *ConversionError) { return c.printed(p, how, m.address(p.null), like) })
	}
	return c.printed(p, how, m.address(p.null), like)
}
