package value

import (
	"encoding"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
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

// reflected converts v, whose type p is for, like another document.
func (c *converter) reflected(p *plan, v reflect.Value, like Value) (Value, *ConversionError) {
	c.values++
	if p.prints != noMethod || p.addrPrints != noMethod && v.CanAddr() {
		return c.printed(p, v, like)
	}
	switch p.shape {
	case shapeStruct:
		if v.CanAddr() {
			return c.structAt(p, memoryOf(v), like)
		}
		return c.structure(p, v, like)
	case shapeString:
		return fromString(v.String()), nil
	case shapeInt:
		return Int(v.Int()), nil
	case shapeBool:
		return Bool(v.Bool()), nil
	case shapeUint:
		return fromUint(v.Uint())
	case shapeFloat:
		if v.Kind() == reflect.Float32 {
			return fromFloat32(float32(v.Float()))
		}
		return fromFloat(v.Float())
	case shapeNumber:
		return fromNumber(v.String())
	case shapeArray:
		return c.elements(p, v, like)
	case shapeValue:
		doc, _ := reflect.TypeAssert[Value](v)
		return c.value(doc, like)
	case shapePointer, shapeInterface, shapeSlice, shapeMap, shapeBytes:
		if v.IsNil() {
			return Null(), nil
		}
		return c.referred(p, v, like)
	}
	return Value{}, inexpressible("a value of Go type %v is no JSON value", p.typ)
}

// referred converts a pointer, an interface, a slice or a map that is not nil.
func (c *converter) referred(p *plan, v reflect.Value, like Value) (Value, *ConversionError) {
	switch p.shape {
	case shapePointer:
		if c.pointers++; c.pointers > MaxDepth {
			return Value{}, inexpressible("nested deeper than %d", MaxDepth)
		}
		out, err := c.reflected(p.elem, v.Elem(), like)
		c.pointers--
		return out, err
	case shapeSlice:
		return c.elements(p, v, like)
	case shapeMap:
		return c.dict(p, v, like)
	case shapeBytes:
		return fromString(base64.StdEncoding.EncodeToString(v.Bytes())), nil
	}
	return c.value(v.Interface(), like)
}

// structure converts a struct. Its members wait on a stack until all are there, since a field may be omitted; the plan
// has them in name order, as like has its own.
func (c *converter) structure(p *plan, v reflect.Value, like Value) (Value, *ConversionError) {
	if err := c.enter(); err != nil {
		return Value{}, err
	}
	out := c.membersLike(like)
	for i := range p.fields {
		f := &p.fields[i]
		at, ok := f.in(v)
		if !ok || f.omits(at) {
			continue
		}
		old, was := out.seek(f.name)
		member, err := c.reflected(f.plan, at, was)
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

// in returns the field of v, a struct, and false when an embedded pointer on the way to it is nil.
func (f *field) in(v reflect.Value) (reflect.Value, bool) {
	if len(f.index) == 1 {
		return v.Field(f.index[0]), true
	}
	for _, i := range f.index {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return v, false
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	return v, true
}

// quote returns the string that holds the JSON text of member, converted from v, as the tag option "string" wants it.
// A nil pointer stays null, and a method has the last word.
func quote(p *plan, v reflect.Value, member Value) Value {
	for p.shape == shapePointer && !v.IsNil() {
		p, v = p.elem, v.Elem()
	}
	if p.shape == shapePointer || p.prints != noMethod || p.addrPrints != noMethod && v.CanAddr() {
		return member
	}
	if p.shape == shapeNumber && v.Len() > 0 {
		return fromString(v.String())
	}
	return fromString(textOf(member.AppendJSON(nil)))
}

// elements converts an array or a slice.
func (c *converter) elements(p *plan, v reflect.Value, like Value) (Value, *ConversionError) {
	if err := c.enter(); err != nil {
		return Value{}, err
	}
	n := v.Len()
	out := c.itemsLike(n, like)
	for i := range n {
		item, err := c.reflected(p.elem, v.Index(i), out.was(i))
		if err != nil {
			return Value{}, err.within(fmt.Sprintf("[%d]", i))
		}
		out.add(item)
	}
	c.depth--
	return c.closeItems(&out), nil
}

// dict converts a map.
func (c *converter) dict(p *plan, v reflect.Value, like Value) (Value, *ConversionError) {
	if err := c.enter(); err != nil {
		return Value{}, err
	}
	labels, ok := reflect.TypeAssert[map[string]string](v) // or annotations
	if ok && hasStrings(labels, like) {
		c.depth--
		c.shared++
		return like, nil
	}
	var out []Member
	if like.Len() == 0 {
		out = c.arena.members.take(v.Len())
	} else {
		out = make([]Member, v.Len()) // parts of like may come to lie in it, see close
	}
	if ok {
		fillStrings(out, labels)
	} else if err := c.entries(out, p, v, like); err != nil {
		return Value{}, err
	}
	c.depth--
	if dup, ok := sortMembers(out); !ok {
		return Value{}, inexpressible("two keys of Go type %v print as %q", p.typ.Key(), out[dup].Name)
	}
	return c.again(out, like), nil
}

// again returns the object of members, which is like if that has exactly the same.
func (c *converter) again(members []Member, like Value) Value {
	if like.Kind() != KindObject || like.len() != len(members) {
		return fromMembers(members)
	}
	for i, was := range like.members() {
		if members[i].Name != was.Name || !exactly(members[i].Value, was.Value) {
			return fromMembers(members)
		}
	}
	c.shared++
	return like
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

func fillStrings(out []Member, m map[string]string) {
	i := 0
	for name, s := range m {
		out[i] = Member{name, fromString(s)}
		i++
	}
}

// entries sets out to the members that v, a map, has, in any order.
func (c *converter) entries(out []Member, p *plan, v reflect.Value, like Value) *ConversionError {
	i, key := 0, reflect.New(p.typ.Key()).Elem()
	for entry := v.MapRange(); entry.Next(); i++ {
		key.SetIterKey(entry)
		name, err := keyText(key)
		if err != nil {
			return err
		}
		member, err := c.reflected(p.elem, entry.Value(), like.Get(name))
		if err != nil {
			return err.within("." + name)
		}
		out[i] = Member{name, member}
	}
	return nil
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

// printed converts v by the method that its type has for it.
func (c *converter) printed(p *plan, v reflect.Value, like Value) (Value, *ConversionError) {
	if isNil(v) {
		return Null(), nil
	}
	m := p.prints
	if v.CanAddr() && p.addrPrints != noMethod {
		m, v = p.addrPrints, v.Addr()
	}
	switch m {
	case toUnstructuredErr:
		u, _ := reflect.TypeAssert[unstructuredErr](v)
		out, err := u.ToUnstructuredWithError()
		if err != nil {
			return Value{}, failure("ToUnstructuredWithError", p.typ, err)
		}
		return c.value(out, like)
	case toUnstructured:
		u, _ := reflect.TypeAssert[unstructured](v)
		return c.value(u.ToUnstructured(), like)
	case marshalText:
		u, _ := reflect.TypeAssert[encoding.TextMarshaler](v)
		text, err := u.MarshalText()
		if err != nil {
			return Value{}, failure("MarshalText", p.typ, err)
		}
		return String(string(text)), nil
	}
	u, _ := reflect.TypeAssert[json.Marshaler](v)
	text, err := u.MarshalJSON()
	if err != nil {
		return Value{}, failure("MarshalJSON", p.typ, err)
	}
	out, err := Parse(text)
	if err != nil {
		return Value{}, failure("MarshalJSON", p.typ, err)
	}
	return out, nil
}

// fromNumber converts a json.Number, which is 0 when empty.
func fromNumber(text string) (Value, *ConversionError) {
	if text == "" {
		return Int(0), nil
	}
	p := parser{text: []byte(text)}
	if v, err := p.number(); err == nil && p.pos == len(text) {
		return v, nil
	}
	return Value{}, inexpressible("%q is no JSON number", text)
}
