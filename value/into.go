package value

import (
	"encoding"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
)

// Into fills what target points to with v, as [json.Unmarshal] of v's JSON text would:
//
//  1. Structs take the members that their fields name, with the names of [FromGo]; a field without a member stays as it
//     is, a member without a field is ignored. Names match exactly: case counts, as it does in Kubernetes.
//  2. Null sets pointers, interfaces, maps and slices to nil and leaves everything else as it is.
//  3. A nil pointer gets something to point to. A map gets members added; a slice gets a new array, an array is filled up
//     with zeros.
//  4. Numbers have to fit: an integer type takes no fraction and nothing outside its range. A []byte takes base64.
//  5. A type with UnmarshalJSON or UnmarshalText is filled by that.
//  6. A [Value] takes v itself, an empty interface what [Value.ToAny] returns.
//
// The absent Value leaves everything as it is. The error, always a [*ConversionError], is the first misfit in name order;
// the target is then partly filled.
func (v Value) Into(target any) error {
	t := reflect.ValueOf(target)
	if t.Kind() != reflect.Pointer || t.IsNil() {
		return inexpressible("only what a pointer points to can be filled, not a target of Go type %T", target)
	}
	p := planOf(t.Type())
	if p.shape == shapeNone {
		return v.misfit(t.Type())
	}
	if v.IsAbsent() {
		return nil
	}
	if err := v.fill(p.elem, memoryOf(t)); err != nil {
		return err.located()
	}
	return nil
}

// UnmarshalJSON implements [json.Unmarshaler] by [Parse].
func (v *Value) UnmarshalJSON(text []byte) error {
	parsed, err := Parse(text)
	if err != nil {
		return err
	}
	*v = parsed
	return nil
}

// fill sets what lies at to, whose type p is for, to what v says.
func (v Value) fill(p *plan, to memory) *ConversionError {
	if p.reads == unmarshalJSON || p.reads == unmarshalText && !v.IsNull() {
		return v.read(p, to)
	}
	switch p.shape {
	case shapeValue:
		write(to, v)
		return nil
	case shapePointer:
		return v.fillPointer(p, to)
	case shapeInterface:
		return v.fillInterface(to.reflect(p.typ))
	}
	switch v.Kind() {
	case KindNull:
		if p.shape == shapeMap || p.shape == shapeStrings || p.shape == shapeSlice || p.shape == shapeBytes {
			to.reflect(p.typ).SetZero()
		}
		return nil
	case KindObject:
		return v.fillWithObject(p, to)
	case KindList:
		return v.fillWithList(p, to)
	}
	return v.fillScalar(p, to)
}

// read fills what lies at to by a method of its address.
func (v Value) read(p *plan, to memory) *ConversionError {
	if p.reads == unmarshalJSON {
		if err := to.address(p.null).(json.Unmarshaler).UnmarshalJSON(v.text()); err != nil {
			return failure("UnmarshalJSON", p.typ, err)
		}
		return nil
	}
	if v.Kind() != KindString {
		return v.misfit(p.typ)
	}
	if err := to.address(p.null).(encoding.TextUnmarshaler).UnmarshalText([]byte(v.str())); err != nil {
		return failure("UnmarshalText", p.typ, err)
	}
	return nil
}

// text returns the JSON text of v in memory that is as large as most strings need: a method may keep it.
func (v Value) text() []byte {
	n := 0
	if v.Kind() == KindString {
		n = v.len() + len(`""`)
	}
	return v.AppendJSON(make([]byte, 0, n))
}

func (v Value) fillPointer(p *plan, to memory) *ConversionError {
	if v.IsNull() {
		to.reflect(p.typ).SetZero()
		return nil
	}
	if to.isNil() {
		to.point(reflect.New(p.elem.typ))
	}
	return v.fill(p.elem, to.target())
}

// fillInterface fills what a pointer inside the interface points to, if there is one, and else sets an empty interface.
// A pointer to another interface is not followed: it might lead back here.
func (v Value) fillInterface(to reflect.Value) *ConversionError {
	inside := to.Elem()
	if inside.Kind() == reflect.Pointer && !inside.IsNil() {
		kind := inside.Type().Elem().Kind()
		if kind != reflect.Interface && (!v.IsNull() || kind == reflect.Pointer) {
			return v.fill(planOf(inside.Type().Elem()), memoryOf(inside))
		}
	}
	switch {
	case v.IsNull():
		to.SetZero()
	case to.NumMethod() > 0:
		return v.misfit(to.Type())
	default:
		to.Set(reflect.ValueOf(v.ToAny()))
	}
	return nil
}

func (v Value) fillWithObject(p *plan, to memory) *ConversionError {
	switch p.shape {
	case shapeStruct:
		return v.fillStruct(p, to)
	case shapeStrings:
		return v.fillStrings(p, to)
	case shapeMap:
		return v.fillMap(p, to.reflect(p.typ))
	}
	return v.misfit(p.typ)
}

// fillStruct walks the members of v and the fields of the struct side by side: both are in name order. A member is looked for among
// all fields that are left, since to tell names apart costs less than to order them, and almost every member has a field.
func (v Value) fillStruct(p *plan, to memory) *ConversionError {
	next := 0
	for _, m := range v.members() {
		i := next
		for i < len(p.fields) && p.fields[i].name != m.Name {
			i++
		}
		if i == len(p.fields) {
			continue
		}
		next = i + 1
		if err := m.Value.fillField(&p.fields[i], to); err != nil {
			return err.within("." + m.Name)
		}
	}
	return nil
}

func (v Value) fillField(f *field, to memory) *ConversionError {
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
		var err *ConversionError
		if v, err = v.unquote(f.plan); err != nil {
			return err
		}
	}
	return v.fill(f.plan, to.after(f.offset))
}

// unquote returns the scalar that v, a string, holds the JSON text of, as the tag option "string" wants it. Null stays null,
// and a string stays as it is where a json.Number keeps the text.
func (v Value) unquote(p *plan) (Value, *ConversionError) {
	if v.IsNull() {
		return v, nil
	}
	if _, err := fromNumber(v.Str()); p.shape == shapeNumber && err == nil && v.Str() != "" {
		return v, nil
	}
	inner, err := Parse([]byte(v.Str()))
	if err != nil || inner.Kind() == KindList || inner.Kind() == KindObject {
		return Value{}, inexpressible("%v does not hold the JSON text of a value of Go type %v in a string", v, p.typ)
	}
	return inner, nil
}

// fillStrings is fillMap for a map of strings by strings.
func (v Value) fillStrings(p *plan, to memory) *ConversionError {
	if to.isNil() {
		to.reflect(p.typ).Set(reflect.MakeMapWithSize(p.typ, v.len()))
	}
	out := read[map[string]string](to)
	for _, m := range v.members() {
		if k := m.Value.Kind(); k != KindString && k != KindNull {
			return m.Value.misfit(p.elem.typ).within("." + m.Name)
		}
		out[m.Name] = m.Value.Str()
	}
	return nil
}

func (v Value) fillMap(p *plan, to reflect.Value) *ConversionError {
	if to.IsNil() {
		to.Set(reflect.MakeMapWithSize(p.typ, v.len()))
	}
	key, elem := keyOf(p.typ.Key()), reflect.New(p.elem.typ)
	for _, m := range v.members() {
		if err := key.read(m.Name); err != nil {
			return err.within("." + m.Name)
		}
		elem.Elem().SetZero()
		if err := m.Value.fill(p.elem, memoryOf(elem)); err != nil {
			return err.within("." + m.Name)
		}
		to.SetMapIndex(key.at, elem.Elem())
	}
	return nil
}

// fillWithList fills arrays and slices, and those of bytes too, for which base64 is only the shorter form.
func (v Value) fillWithList(p *plan, to memory) *ConversionError {
	items, elem := v.items(), p.elem
	switch p.shape {
	case shapeArray:
		return v.fillArray(p, to)
	case shapeSlice:
	case shapeBytes:
		elem = planOf(p.typ.Elem())
	default:
		return v.misfit(p.typ)
	}
	slice := to.reflect(p.typ)
	if slice.SetZero(); len(items) == 0 {
		slice.Set(reflect.MakeSlice(p.typ, 0, 0))
	}
	slice.Grow(len(items))
	slice.SetLen(len(items))
	first, _ := to.elements()
	return fillElements(elem, first, items)
}

func (v Value) fillArray(p *plan, to memory) *ConversionError {
	array := to.reflect(p.typ)
	items := v.items()[:min(v.len(), array.Len())]
	if err := fillElements(p.elem, to, items); err != nil {
		return err
	}
	for i := len(items); i < array.Len(); i++ {
		array.Index(i).SetZero()
	}
	return nil
}

// fillElements fills as many elements from first on, each of the type that p is for, as there are items.
func fillElements(p *plan, first memory, items []Value) *ConversionError {
	for i, item := range items {
		if err := item.fill(p, first.after(uintptr(i)*p.size)); err != nil {
			return err.within(fmt.Sprintf("[%d]", i))
		}
	}
	return nil
}

// bytes returns what v, a string, says in base64.
func (v Value) bytes() ([]byte, *ConversionError) {
	b, err := base64.StdEncoding.DecodeString(v.str())
	if err != nil {
		return nil, &ConversionError{Reason: "string is not base64", Err: err}
	}
	return b, nil
}
