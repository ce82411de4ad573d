package form

import (
	"slices"
	"strings"
	"time"

	"github.com/deed-project/deed/internal/jsontext"
	"github.com/deed-project/deed/value"
)

// Mode says what [Type.Normalize] does beside reading and printing.
type Mode uint8

// The modes, which may be combined. Defaults has the rules of [Types.SetRules] carried out, and Printed its
// functions for what values are held as; a server does both: that is Held. Stored answers what is left after the
// struct was stored as protocol buffers, which know no empty lists and maps.
const (
	Defaults Mode = 1 << iota
	Printed
	Stored
	// Spelled keeps what prints the same as it was sent: empty lists and maps that are left out, and the spelling
	// of quantities.
	Spelled
	// Converted reads numbers as maps are converted to Go structs, which is what becomes of an apply: cut off to the size of the type.
	Converted
	Held = Defaults | Printed
)

// Normalize returns v as a Go value of type t prints it after reading v. What t does not know is lost; v is shared
// as far as it stays as it is. The error is an [*Error]: the first one in the order of the struct's fields.
//
// It takes time in proportion to the members of v and the fields of the structs in it.
func (t *Type) Normalize(v value.Value, mode Mode) (value.Value, error) {
	return t.NormalizeAt(v, mode, time.Now)
}

// NormalizeAt is Normalize with a clock, which default values may ask.
func (t *Type) NormalizeAt(v value.Value, mode Mode, now func() time.Time) (value.Value, error) {
	return t.NormalizeLike(v, value.Value{}, mode, now)
}

// NormalizeLike is NormalizeAt for a v that shares members with known, which it returned for the same type and
// mode: they are not looked at again.
func (t *Type) NormalizeLike(v, known value.Value, mode Mode, now func() time.Time) (value.Value, error) {
	w := walk{mode: mode, now: now, known: known}
	out := w.value(t, v)
	if w.err != nil {
		return value.Value{}, w.err
	}
	return out, nil
}

// walk is one pass over a document. After an error it goes on, and keeps the first error in the order of fields.
type walk struct {
	mode  Mode
	now   func() time.Time
	known value.Value // of the root: what was normalized before
	steps []step      // from the root to where the walk is
	err   *Error
	ranks []int // where w.err is: the order of each field, the index of each item
}

// step leads from a value to one in it.
type step struct {
	owner *Type // the struct whose field it is; nil for items and members of maps
	name  string
	index int
	named bool // name counts, not index
	order int
}

// fail keeps err unless there is one that comes before it.
func (w *walk) fail(err *Error) value.Value {
	ranks := make([]int, len(w.steps))
	for i, s := range w.steps {
		ranks[i] = s.order
	}
	if w.err == nil || slices.Compare(ranks, w.ranks) < 0 {
		w.err, w.ranks = err, ranks
	}
	return value.Null()
}

// value returns what a Go value of type t prints that was read from v. Absent is read like null.
func (w *walk) value(t *Type, v value.Value) value.Value {
	switch t.kind {
	case kindPointer:
		if isNothing(v) {
			return value.Null()
		}
		return w.value(t.elem, v)
	case kindStruct:
		return w.object(t, v)
	case kindList:
		return w.list(t, v)
	case kindMap:
		return w.members(t, v)
	}
	return w.scalar(t, v)
}

func isNothing(v value.Value) bool { return v.IsAbsent() || v.IsNull() }

// object reads a struct. Fields and members are both sorted by name, so they are met side by side.
func (w *walk) object(t *Type, v value.Value) value.Value {
	switch {
	case isNothing(v):
		v = value.Object()
	case v.Kind() != value.KindObject:
		return w.fail(w.mismatch(t, v))
	}
	fields := t.all()
	if w.mode&Defaults != 0 && t.defaults != nil {
		v = t.defaults(v, env{w.now, w.mode&Stored != 0})
	}
	var out []value.Member // nil as long as it is the first members of v
	kept, i, n := 0, 0, v.Len()
	for f := range fields {
		field := &fields[f]
		order := 1 // of the next member and the field
		for ; i < n; i++ {
			if order = strings.Compare(v.Member(i).Name, field.name); order >= 0 {
				break
			}
			out = started(out, v, kept, len(fields)) // unknown
		}
		var member value.Value
		if i < n && order == 0 {
			member = v.Member(i).Value
			i++
		} else if field.silent {
			continue
		}
		printed := member
		if len(w.steps) > 0 || member.IsAbsent() || !member.Same(w.known.Get(field.name)) {
			printed = w.field(t, field, member)
		}
		if out == nil && printed.Same(member) {
			if !member.IsAbsent() {
				kept = i
			}
			continue
		}
		out = started(out, v, kept, len(fields))
		if !printed.IsAbsent() {
			out = append(out, value.Member{Name: field.name, Value: printed})
		}
	}
	if out != nil || kept < n {
		v = value.Object(started(out, v, kept, len(fields))...)
	}
	if w.mode&Printed != 0 && t.prints != nil {
		return t.prints(v)
	}
	return v
}

// started returns out, or the first members of v where there is none yet.
func started(out []value.Member, v value.Value, kept, room int) []value.Member {
	if out != nil {
		return out
	}
	out = make([]value.Member, 0, min(room, v.Len()+2))
	for i := range kept {
		out = append(out, v.Member(i))
	}
	return out
}

// field returns what struct t prints for a field that was read from v; absent if it is left out.
func (w *walk) field(t *Type, f *field, v value.Value) value.Value {
	if f.silent && isNothing(v) {
		return value.Value{}
	}
	w.steps = append(w.steps, step{owner: t, name: f.name, named: true, order: f.order})
	printed := w.value(f.typ, v)
	w.steps = w.steps[:len(w.steps)-1]
	if w.mode&Spelled != 0 && (f.typ.kind == kindList || f.typ.kind == kindMap) && !printed.IsNull() {
		return printed
	}
	if f.omitEmpty && f.typ.isEmpty(printed) || f.omitZero && f.typ.isZero(printed) {
		return value.Value{}
	}
	return printed
}

// isEmpty reports whether printed stands for what omitempty leaves out. Structs are never empty.
func (t *Type) isEmpty(printed value.Value) bool {
	switch t.kind {
	case kindPointer:
		return printed.IsNull()
	case kindList, kindMap:
		return printed.Len() == 0
	case kindString, kindBytes:
		return printed.Str() == ""
	case kindBool:
		return !printed.Bool()
	case kindInt32, kindInt64, kindFloat:
		return printed.Float() == 0
	}
	return false
}

// isZero reports whether printed stands for what omitzero leaves out.
func (t *Type) isZero(printed value.Value) bool {
	switch t.kind {
	case kindList, kindMap, kindTime, kindMicroTime, kindRaw:
		return printed.IsNull()
	case kindStruct:
		return printed.Len() == 0
	}
	return t.isEmpty(printed)
}

func (w *walk) list(t *Type, v value.Value) value.Value {
	switch {
	case isNothing(v):
		return value.Null()
	case v.Kind() != value.KindList:
		return w.fail(w.mismatch(t, v))
	case v.Len() == 0 && w.mode&Stored != 0:
		return value.Null()
	}
	var out []value.Value // nil as long as it is the first items of v
	for i := range v.Len() {
		item := v.Item(i)
		w.steps = append(w.steps, step{index: i, order: i})
		printed := w.value(t.elem, item)
		w.steps = w.steps[:len(w.steps)-1]
		if out == nil && !printed.Same(item) {
			out = append(make([]value.Value, 0, v.Len()), slices.Collect(firstItems(v, i))...)
		}
		if out != nil {
			out = append(out, printed)
		}
	}
	if out == nil {
		return v
	}
	return value.List(out...)
}

func firstItems(v value.Value, n int) func(func(value.Value) bool) {
	return func(yield func(value.Value) bool) {
		for i := 0; i < n && yield(v.Item(i)); i++ {
		}
	}
}

func (w *walk) members(t *Type, v value.Value) value.Value {
	switch {
	case isNothing(v):
		return value.Null()
	case v.Kind() != value.KindObject:
		return w.fail(w.mismatch(t, v))
	case v.Len() == 0 && w.mode&Stored != 0:
		return value.Null()
	}
	if w.mode&Defaults != 0 && t.defaults != nil {
		v = t.defaults(v, env{w.now, w.mode&Stored != 0})
	}
	var out []value.Member // nil as long as it is the first members of v
	for i := range v.Len() {
		m := v.Member(i)
		w.steps = append(w.steps, step{name: m.Name, named: true, order: i})
		printed := w.value(t.elem, m.Value)
		w.steps = w.steps[:len(w.steps)-1]
		if printed.IsNull() && w.mode&Stored != 0 {
			printed = t.elem.stored()
		}
		if out == nil && !printed.Same(m.Value) {
			out = started(nil, v, i, v.Len())
		}
		if out != nil {
			out = append(out, value.Member{Name: m.Name, Value: printed})
		}
	}
	if out == nil {
		return v
	}
	return value.Object(out...)
}

// stored returns what a member of a map that is nothing is read as after it was stored.
func (t *Type) stored() value.Value {
	switch t.kind {
	case kindBytes:
		return value.String("")
	case kindList:
		return value.List()
	}
	return value.Null()
}

// AppendJSON appends v, which t has printed, to b as JSON text with the fields of structs in the order that the
// structs have them.
func (t *Type) AppendJSON(b []byte, v value.Value) []byte {
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
func (t *Type) ListOf() *Type { return &Type{kind: kindList, elem: t} }

// Unlike reports whether v, held as a Go value of type t, is not the value that is read back from storage although
// it prints the same: it has an empty list or map where storage has none, or a quantity in another spelling. It
// takes time in proportion to v.
func (t *Type) Unlike(v value.Value) bool {
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

// Item returns the type of the items of a list of type t, and nil if t is no list.
func (t *Type) Item() *Type {
	for t.kind == kindPointer {
		t = t.elem
	}
	if t.kind != kindList {
		return nil
	}
	return t.elem
}
