package structs

import (
	"encoding"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/deed-project/deed/value"
)

// Into fills the Go value that target points to with v, as [json.Unmarshal] of v's JSON text would:
//
//  1. A struct takes the members that have fields, with the names of [From]. A field without a
//     member stays as it is. A member without a field is ignored. Names are case-sensitive, as in
//     Kubernetes.
//  2. Null sets pointers, interfaces, maps and slices to nil, and leaves other types as they are.
//  3. A nil pointer gets a new target. A map keeps its other members. A slice gets a new array. The
//     rest of an array is filled with zeros.
//  4. Numbers must fit: an integer type takes no fraction and no number outside its range. A []byte
//     takes base64.
//  5. A type with UnmarshalJSON or UnmarshalText is filled by that method.
//  6. A [value.Value] takes v itself. An empty interface takes the result of [value.Value.ToAny].
//
// The absent Value changes nothing. The error is always a [*value.ConversionError] about the first
// misfit in name order. The target is then partly filled.
func Into(v value.Value, target any) error {
	t := reflect.ValueOf(target)
	if t.Kind() != reflect.Pointer || t.IsNil() {
		wrong := inexpressible("only what a pointer points to can be filled, not a target of Go type %T", target)
		return wrong.located()
	}
	p := planOf(t.Type())
	if p.shape == shapeNone {
		return misfit(v, t.Type()).located()
	}
	if v.IsAbsent() {
		return nil
	}
	if err := fill(v, p.elem, memoryOf(t)); err != nil {
		return err.located()
	}
	return nil
}

// fill fills the Go value at to, whose plan is p, with v.
func fill(v value.Value, p *plan, to memory) *fault {
	if p.reads == unmarshalJSON || p.reads == unmarshalText && !v.IsNull() {
		return fillByMethod(v, p, to)
	}
	switch p.shape {
	case shapeValue:
		write(to, v)
		return nil
	case shapePointer:
		return fillPointer(v, p, to)
	case shapeInterface:
		return fillInterface(v, to.reflect(p.typ))
	}
	switch v.Kind() {
	case value.KindNull:
		if p.shape == shapeMap || p.shape == shapeStrings || p.shape == shapeSlice || p.shape == shapeBytes {
			to.reflect(p.typ).SetZero()
		}
		return nil
	case value.KindObject:
		return fillWithObject(v, p, to)
	case value.KindList:
		return fillWithList(v, p, to)
	}
	return fillScalar(v, p, to)
}

// fillByMethod fills the Go value at to by a method of its address.
func fillByMethod(v value.Value, p *plan, to memory) *fault {
	if p.reads == unmarshalJSON {
		if err := to.address(p.typ).(json.Unmarshaler).UnmarshalJSON(textFor(v)); err != nil {
			return failure("UnmarshalJSON", p.typ, err)
		}
		return nil
	}
	if v.Kind() != value.KindString {
		return misfit(v, p.typ)
	}
	if err := to.address(p.typ).(encoding.TextUnmarshaler).UnmarshalText([]byte(v.Str())); err != nil {
		return failure("UnmarshalText", p.typ, err)
	}
	return nil
}

// textFor returns the JSON text of v. For most strings, the slice has the exact capacity, because a
// method may keep it.
func textFor(v value.Value) []byte {
	n := 0
	if v.Kind() == value.KindString {
		n = len(v.Str()) + len(`""`)
	}
	return v.AppendJSON(make([]byte, 0, n))
}

func fillPointer(v value.Value, p *plan, to memory) *fault {
	if v.IsNull() {
		to.reflect(p.typ).SetZero()
		return nil
	}
	if to.isNil() {
		to.point(reflect.New(p.elem.typ))
	}
	return fill(v, p.elem, to.target())
}

// fillInterface fills the target of a pointer inside the interface. Otherwise it sets the
// interface, which must have no methods unless v is null. It does not follow a pointer to an
// interface, because that may lead back here.
func fillInterface(v value.Value, to reflect.Value) *fault {
	inside := to.Elem()
	if inside.Kind() == reflect.Pointer && !inside.IsNil() {
		kind := inside.Type().Elem().Kind()
		if kind != reflect.Interface && (!v.IsNull() || kind == reflect.Pointer) {
			return fill(v, planOf(inside.Type().Elem()), memoryOf(inside))
		}
	}
	switch {
	case v.IsNull():
		to.SetZero()
	case to.NumMethod() > 0:
		return misfit(v, to.Type())
	default:
		to.Set(reflect.ValueOf(v.ToAny()))
	}
	return nil
}

func fillWithObject(v value.Value, p *plan, to memory) *fault {
	switch p.shape {
	case shapeStruct:
		return fillStruct(v, p, to)
	case shapeStrings:
		return fillStrings(v, p, to)
	case shapeMap:
		return fillMap(v, p, to.reflect(p.typ))
	}
	return misfit(v, p.typ)
}

// fillStruct walks the members of v and the fields of the struct together: both are in name order.
// It compares a member with all remaining fields, because equality of names costs less than order,
// and almost every member has a field.
func fillStruct(v value.Value, p *plan, to memory) *fault {
	next := 0
	for number := range v.Len() {
		m, i := v.Member(number), next
		for i < len(p.fields) && p.fields[i].name != m.Name {
			i++
		}
		if i == len(p.fields) {
			continue
		}
		next = i + 1
		if err := fillField(m.Value, &p.fields[i], to); err != nil {
			return err.within("." + m.Name)
		}
	}
	return nil
}

func fillField(v value.Value, f *field, to memory) *fault {
	for i := range f.hops {
		h := &f.hops[i]
		to = to.after(h.offset)
		if to.isNil() {
			if h.sealed {
				return inexpressible("an embedded pointer to the unexported Go type %v cannot be set", h.typ)
			}
			to.point(reflect.New(h.typ))
		}
		to = to.target()
	}
	if f.quoted {
		var err *fault
		if v, err = unquote(v, f.plan); err != nil {
			return err
		}
	}
	return fill(v, f.plan, to.after(f.offset))
}

// unquote implements the tag option "string": it parses the scalar whose JSON text is in the string
// v. Null stays null. A string for a json.Number stays as it is if it holds a number.
func unquote(v value.Value, p *plan) (value.Value, *fault) {
	if v.IsNull() {
		return v, nil
	}
	if _, err := fromNumber(v.Str()); p.shape == shapeNumber && err == nil && v.Str() != "" {
		return v, nil
	}
	inner, err := value.Parse([]byte(v.Str()))
	if err != nil || inner.Kind() == value.KindList || inner.Kind() == value.KindObject {
		return value.Value{}, inexpressible(
			"%v does not hold the JSON text of a value of Go type %v in a string", v, p.typ)
	}
	return inner, nil
}

// fillStrings is fillMap for a map of strings by strings.
func fillStrings(v value.Value, p *plan, to memory) *fault {
	if to.isNil() {
		to.reflect(p.typ).Set(reflect.MakeMapWithSize(p.typ, v.Len()))
	}
	out := read[map[string]string](to)
	for i := range v.Len() {
		m := v.Member(i)
		if k := m.Value.Kind(); k != value.KindString && k != value.KindNull {
			return misfit(m.Value, p.elem.typ).within("." + m.Name)
		}
		out[m.Name] = m.Value.Str()
	}
	return nil
}

func fillMap(v value.Value, p *plan, to reflect.Value) *fault {
	if to.IsNil() {
		to.Set(reflect.MakeMapWithSize(p.typ, v.Len()))
	}
	key, elem := keyOf(p.typ.Key()), reflect.New(p.elem.typ)
	for i := range v.Len() {
		m := v.Member(i)
		if err := key.read(m.Name); err != nil {
			return err.within("." + m.Name)
		}
		elem.Elem().SetZero()
		if err := fill(m.Value, p.elem, memoryOf(elem)); err != nil {
			return err.within("." + m.Name)
		}
		to.SetMapIndex(key.at, elem.Elem())
	}
	return nil
}

// fillWithList fills arrays and slices. A slice of bytes may also be a list, not only base64.
func fillWithList(v value.Value, p *plan, to memory) *fault {
	n, elem := v.Len(), p.elem
	switch p.shape {
	case shapeArray:
		return fillArray(v, p, to)
	case shapeSlice:
	case shapeBytes:
		elem = planOf(p.typ.Elem())
	default:
		return misfit(v, p.typ)
	}
	slice := to.reflect(p.typ)
	if slice.SetZero(); n == 0 {
		slice.Set(reflect.MakeSlice(p.typ, 0, 0))
	}
	slice.Grow(n)
	slice.SetLen(n)
	first, _ := to.elements()
	return fillElements(elem, first, v, n)
}

func fillArray(v value.Value, p *plan, to memory) *fault {
	array := to.reflect(p.typ)
	n := min(v.Len(), array.Len())
	if err := fillElements(p.elem, to, v, n); err != nil {
		return err
	}
	for i := n; i < array.Len(); i++ {
		array.Index(i).SetZero()
	}
	return nil
}

// fillElements fills n elements from first on, whose plan is p, with the first items of v.
func fillElements(p *plan, first memory, v value.Value, n int) *fault {
	for i := range n {
		if err := fill(v.Item(i), p, first.after(uintptr(i)*p.size)); err != nil {
			return err.within(fmt.Sprintf("[%d]", i))
		}
	}
	return nil
}

// base64Of returns the bytes that the string v holds in base64.
func base64Of(v value.Value) ([]byte, *fault) {
	b, err := base64.StdEncoding.DecodeString(v.Str())
	if err != nil {
		return nil, &fault{reason: "string is not base64", err: err}
	}
	return b, nil
}
