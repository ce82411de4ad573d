package form

import (
	"slices"
	"strings"
	"time"

	"github.com/deed-project/deed/internal/jsontext"
	"github.com/deed-project/deed/value"
)

// AppendJSON appends the JSON text of v to b. t must have printed v. Struct fields are in the order of the Go
// struct.
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

// ListOf returns the type of lists whose items have type t.
func (t *Type) ListOf() *Type { return &Type{kind: kindList, elem: t.known()} }

// Unlike reports whether the Go value of sent differs from the value that is read back from storage, although both
// print as printed. They differ if sent has an empty list or map, which storage drops, or another spelling of a
// quantity. An empty part that is not empty in printed, because of a default, does not count.
//
// Cost: linear in the size of sent.
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

// Same reports whether two values, as they print, are equal when a quantity equals its other spellings: 1Ki and 1024.
//
// Cost: linear in the size of a and b.
func (t *Type) Same(a, b value.Value) bool {
	t = t.known()
	for t.kind == kindPointer {
		t = t.elem
	}
	switch {
	case t.kind == kindQuantity && a.Kind() == value.KindString && b.Kind() == value.KindString:
		return a.Str() == b.Str() || CompareQuantities(a.Str(), b.Str()) == 0
	case a.Kind() != b.Kind() || a.Len() != b.Len():
		return false
	case t.kind == kindList || t.kind == kindMap || t.kind == kindStruct:
		return t.sameParts(a, b)
	}
	return a.Equal(b)
}

// sameParts is Same for the parts of two lists, or of two objects, of the same length.
func (t *Type) sameParts(a, b value.Value) bool {
	for i := range a.Len() {
		x, y := a.Member(i), b.Member(i) // without names for items
		if t.kind == kindList {
			x.Value, y.Value = a.Item(i), b.Item(i)
		}
		elem := t.elem
		if t.kind == kindStruct {
			elem = anyJSON
			if f := t.lookup(x.Name); f != nil {
				elem = f.typ
			}
		}
		if x.Name != y.Name || !elem.Same(x.Value, y.Value) {
			return false
		}
	}
	return true
}

// WithEmpties returns the content of a Go value of type t that read sent and prints as printed. It adds the parts
// of sent that printing leaves out: empty lists and maps, zero times, and fractions of times. Parts of printed that
// sent does not have stay unchanged, and also lists with another number of items. It returns printed itself if it
// adds nothing.
//
//	sent  {args: [], env: [{name: a}], x: 1}    printed  {env: [{name: a}]}    outcome  {args: [], env: [{name: a}]}
//
// Cost: linear in the size of sent.
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

// withEmpty is WithEmpties for one field of a struct. printed is the struct, and sent the value that was sent for
// the field.
func (f *field) withEmpty(printed, sent value.Value) value.Value {
	was := printed.Get(f.name)
	switch {
	case f.typ.kind == kindTime && isZeroTime(sent, time.RFC3339):
		// The Go value is not an unset time, although both print the same.
		return printed.With(f.name, value.String("0001-01-01T00:00:00Z"))
	case f.typ.kind == kindMicroTime && isZeroTime(sent, microTime):
		return printed.With(f.name, value.String("0001-01-01T00:00:00.000000Z"))
	case f.bare == kindTime && f.typ.kind == kindPointer && isZeroTime(sent, time.RFC3339):
		return printed.With(f.name, value.Null()) // a pointer to the zero time prints as null
	case f.bare == kindTime && HasFraction(sent.Str()):
		return with(printed, f.name, was, withFraction(was, sent))
	case f.typ.kind == kindList && sent.Kind() == value.KindList && sent.Len() == 0 && isNothing(was),
		f.typ.kind == kindMap && sent.Kind() == value.KindObject && sent.Len() == 0 && isNothing(was): // null without omitempty
		return printed.With(f.name, sent)
	case !was.IsAbsent():
		return with(printed, f.name, was, f.typ.WithEmpties(was, sent))
	case f.typ.kind == kindStruct: // printing leaves it out if it is empty
		if held := f.typ.WithEmpties(value.Object(), sent); held.Len() > 0 {
			return printed.With(f.name, held)
		}
	}
	return printed
}

// HasFraction reports whether text looks like an RFC 3339 time with a fraction of a second.
func HasFraction(text string) bool {
	return len(text) > len("2006-01-02T15:04:05.Z") && text[len("2006-01-02T15:04:05")] == '.' && text[len("2006-01-02")] == 'T'
}

// withFraction returns the time of sent in UTC with its fraction, if it prints as printed. Otherwise it returns
// printed.
func withFraction(printed, sent value.Value) value.Value {
	t, err := time.Parse(time.RFC3339, sent.Str())
	if t = t.UTC(); err != nil || t.Format(time.RFC3339) != printed.Str() {
		return printed
	}
	return value.String(t.Format(time.RFC3339Nano))
}

// with returns object with the value is for a member. It returns object itself if is and was are the same.
func with(object value.Value, name string, was, is value.Value) value.Value {
	if is.Same(was) {
		return object
	}
	return object.With(name, is)
}

// itemsWithEmpties is WithEmpties for a list. sent and printed have the same number of items.
func (t *Type) itemsWithEmpties(printed, sent value.Value) value.Value {
	var items []value.Value // nil while the items so far are unchanged
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

// Member returns the type of the member called name of an object of type t. It returns nil if there is none.
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

// Omits reports whether an object of type t leaves out the member called name if it is empty. It is false for
// members of maps.
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

// Item returns the type of the items of a list of type t. It returns nil if t is not a list.
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
