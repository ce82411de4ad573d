package form

import (
	"slices"
	"strings"
	"time"

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
	slices.SortStableFunc(fields, func(a, b field) int { return a.order - b.order })
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

// Unlike reports whether sent, held as a Go value of type t, is not the value that is read back from storage although
// it prints as printed: it has an empty list or map where storage has none, or a quantity in another spelling. An
// empty part that printed fills with a default does not count. It takes time in proportion to sent.
func (t *Type) Unlike(sent, printed value.Value) bool {
	t = t.known()
	switch t.kind {
	case kindPointer:
		return t.elem.Unlike(sent, printed)
	case kindList:
		for i := range sent.Len() {
			var beside value.Value
			if printed.Len() == sent.Len() {
				beside = printed.Item(i)
			}
			if t.elem.Unlike(sent.Item(i), beside) {
				return true
			}
		}
		return sent.Kind() == value.KindList && sent.Len() == 0 && printed.Len() == 0
	case kindMap:
		for name, member := range sent.Members() {
			if t.elem.Unlike(member, printed.Get(name)) {
				return true
			}
		}
		return sent.Kind() == value.KindObject && sent.Len() == 0 && printed.Len() == 0
	case kindStruct:
		for name, member := range sent.Members() {
			if f := t.lookup(name); f != nil && f.typ.Unlike(member, printed.Get(name)) {
				return true
			}
		}
	case kindQuantity:
		spelled, err := Quantity(sent.Str())
		return !isNothing(sent) && (err != nil || spelled != sent.Str())
	}
	return false
}

// WithEmpties returns printed, which is what a Go value of type t prints that was read from sent, as the Go value holds it: with the
// empty lists and maps of sent, the zero times and the fractions of times that printing leaves out. Parts of printed that sent does not
// have stay as they are, and so do lists with another number of items. It takes time in proportion to sent, and shares printed if it
// adds nothing.
//
//	sent  {args: [], env: [{name: a}], x: 1}    printed  {env: [{name: a}]}    outcome  {args: [], env: [{name: a}]}
func (t *Type) WithEmpties(printed, sent value.Value) value.Value {
	t = t.known()
	for t.kind == kindPointer {
		t = t.elem
	}
	switch {
	case t.kind == kindStruct && sent.Kind() == value.KindObject && printed.Kind() == value.KindObject:
		t.all()
		for i := range sent.Len() {
			m := sent.Member(i)
			switch text := m.Value.Str(); {
			case m.Value.Kind() == value.KindObject || m.Value.Kind() == value.KindList:
			case strings.HasPrefix(text, "0001-") || HasFraction(text):
			default:
				continue
			}
			if f := t.lookup(m.Name); f != nil {
				printed = f.withEmpty(printed, m.Value)
			}
		}
	case t.kind == kindMap && sent.Kind() == value.KindObject && printed.Kind() == value.KindObject:
		for i := range sent.Len() {
			m := sent.Member(i)
			if was := printed.Get(m.Name); !was.IsAbsent() {
				printed = with(printed, m.Name, was, t.elem.WithEmpties(was, m.Value))
			}
		}
	case t.kind == kindList && sent.Kind() == value.KindList && sent.Len() == printed.Len():
		return t.itemsWithEmpties(printed, sent)
	}
	return printed
}

// withEmpty is WithEmpties for a field of a struct that was printed, given what was sent for the field.
func (f *field) withEmpty(printed, sent value.Value) value.Value {
	was := printed.Get(f.name)
	switch {
	case f.typ.kind == kindTime && isZeroTime(sent, time.RFC3339):
		// This is not the time that is not set, although it prints the same.
		return printed.With(f.name, value.String("0001-01-01T00:00:00Z"))
	case f.bare == kindTime && f.typ.kind == kindPointer && isZeroTime(sent, time.RFC3339):
		return printed.With(f.name, value.Null()) // which is what a pointer to the zero time prints
	case f.bare == kindTime && HasFraction(sent.Str()):
		return with(printed, f.name, was, withFraction(was, sent))
	case f.typ.kind == kindList && sent.Kind() == value.KindList && sent.Len() == 0 && isNothing(was),
		f.typ.kind == kindMap && sent.Kind() == value.KindObject && sent.Len() == 0 && isNothing(was): // null if printing leaves nothing out
		return printed.With(f.name, sent)
	case !was.IsAbsent():
		return with(printed, f.name, was, f.typ.WithEmpties(was, sent))
	case f.typ.kind == kindStruct: // which printing leaves out if nothing in it is printed
		if held := f.typ.WithEmpties(value.Object(), sent); held.Len() > 0 {
			return printed.With(f.name, held)
		}
	}
	return printed
}

// HasFraction reports whether a text may be a time in RFC 3339 with a fraction of a second.
func HasFraction(text string) bool {
	return len(text) > len("2006-01-02T15:04:05.Z") && text[len("2006-01-02T15:04:05")] == '.' && text[len("2006-01-02")] == 'T'
}

// withFraction returns the time in sent in UTC and with its fraction, if it prints as printed.
func withFraction(printed, sent value.Value) value.Value {
	t, err := time.Parse(time.RFC3339, sent.Str())
	if t = t.UTC(); err != nil || t.Format(time.RFC3339) != printed.Str() {
		return printed
	}
	return value.String(t.Format(time.RFC3339Nano))
}

// with returns object with another value for a member, and object itself if that is the former one.
func with(object value.Value, name string, was, is value.Value) value.Value {
	if is.Same(was) {
		return object
	}
	return object.With(name, is)
}

// itemsWithEmpties is WithEmpties for a list with as many items as were sent.
func (t *Type) itemsWithEmpties(printed, sent value.Value) value.Value {
	var items []value.Value // nil as long as the items are those of printed
	for i := range sent.Len() {
		was := printed.Item(i)
		if was.Kind() != value.KindObject && was.Kind() != value.KindList {
			continue
		}
		if is := t.elem.WithEmpties(was, sent.Item(i)); !is.Same(was) {
			if items == nil {
				items = slices.Collect(printed.Items())
			}
			items[i] = is
		}
	}
	if items == nil {
		return printed
	}
	return value.List(items...)
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
