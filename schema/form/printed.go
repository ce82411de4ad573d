package form

import (
	"slices"

	"github.com/deed-project/deed/internal/jsontext"
	"github.com/deed-project/deed/value"
)

// AppendJSON appends v, which t has printed, to b as JSON text with the fields of structs in the order that the
// structs have them.
func (t *Type) AppendJSON(b []byte, v value.Value) []byte {
	t = t.known()
	switch {
	case t.kind == kindPointer:
		return t.elem.AppendJSON(b, v)
	case t.kind == kindList && v.Kind() == value.KindList:
		b = append(b, '[')
		for i := range v.Len() {
			if i > 0 {
				b = append(b, ',')
			}
			b = t.elem.AppendJSON(b, v.Item(i))
		}
		return append(b, ']')
	case t.kind != kindStruct || v.Kind() != value.KindObject:
		return v.AppendJSON(b)
	}
	fields := slices.Clone(t.all())
	slices.SortFunc(fields, func(a, b field) int { return a.order - b.order })
	b = append(b, '{')
	for _, f := range fields {
		member := v.Get(f.name)
		if member.IsAbsent() {
			continue
		}
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		b = f.typ.AppendJSON(append(jsontext.AppendString(b, f.name, jsontext.Standard), ':'), member)
	}
	return append(b, '}')
}

// ListOf returns the type of lists of t.
func (t *Type) ListOf() *Type { return &Type{kind: kindList, elem: t.known()} }

// Unlike reports whether v, held as a Go value of type t, is not the value that is read back from storage although
// it prints the same: it has an empty list or map where storage has none, or a quantity in another spelling. It
// takes time in proportion to v.
func (t *Type) Unlike(v value.Value) bool {
	t = t.known()
	switch t.kind {
	case kindPointer:
		return t.elem.Unlike(v)
	case kindList:
		for item := range v.Items() {
			if t.elem.Unlike(item) {
				return true
			}
		}
		return v.Kind() == value.KindList && v.Len() == 0
	case kindMap:
		for _, member := range v.Members() {
			if t.elem.Unlike(member) {
				return true
			}
		}
		return v.Kind() == value.KindObject && v.Len() == 0
	case kindStruct:
		for name, member := range v.Members() {
			if f := t.lookup(name); f != nil && f.typ.Unlike(member) {
				return true
			}
		}
	case kindQuantity:
		printed, err := Quantity(v.Str())
		return !isNothing(v) && (err != nil || printed != v.Str())
	}
	return false
}

// Member returns the type of the member called name of an object of type t, and nil where there is none.
func (t *Type) Member(name string) *Type {
	t = t.known()
	for t.kind == kindPointer {
		t = t.elem
	}
	switch t.kind {
	case kindMap:
		return t.elem
	case kindStruct:
		if f := t.lookup(name); f != nil {
			return f.typ
		}
	}
	return nil
}

// Omits reports whether an object of type t leaves out the member called name when it is empty. It is false for the members of maps.
func (t *Type) Omits(name string) bool {
	t = t.known()
	for t.kind == kindPointer {
		t = t.elem
	}
	if t.kind != kindStruct {
		return false
	}
	f := t.lookup(name)
	return f != nil && (f.omitEmpty || f.omitZero)
}

// Item returns the type of the items of a list of type t, and nil if t is no list.
func (t *Type) Item() *Type {
	t = t.known()
	for t.kind == kindPointer {
		t = t.elem
	}
	if t.kind != kindList {
		return nil
	}
	return t.elem
}
