package form

import (
	"slices"
	"time"

	"github.com/deed-project/deed/value"
)

// Mode adds steps to reading and printing in [Type.Normalize].
type Mode uint8

// The modes, which may be combined. Defaults applies the rules of [Types.SetRules]. Printed applies the functions
// for values that are held as another type. A server does both: that is Held. Stored drops the parts that are lost
// when the struct is stored as protocol buffers, which do not know empty lists and maps.
const (
	Defaults Mode = 1 << iota
	Printed
	Stored
	// Spelled keeps the sent form of values that print the same: empty lists and maps that are left out, and the
	// spelling of quantities.
	Spelled
	// Converted reads numbers like the conversion of maps to Go structs, which a server uses for the outcome of an
	// apply. A number is cut off to the size of its type.
	Converted
	// Again reads a value that was printed before, in which a null stands for a pointer to the zero time. Stored
	// reads nulls like that, too. Converted turns this off.
	Again
	Held = Defaults | Printed
)

// Normalize returns the value that a Go value of type t prints after it read v. Members that t does not know are
// lost. The result shares unchanged parts of v. The error is an [*Error]: the first one in the order of the
// struct's fields.
//
// Cost: linear in the members of v and the fields of the structs in it.
func (t *Type) Normalize(v value.Value, mode Mode) (value.Value, error) {
	return t.NormalizeAt(v, mode, time.Now)
}

// NormalizeAt is Normalize with a clock for default values. A nil clock means time.Now.
func (t *Type) NormalizeAt(v value.Value, mode Mode, now func() time.Time) (value.Value, error) {
	return t.NormalizeLike(v, value.Value{}, mode, now)
}

// NormalizeLike is NormalizeAt for a v that shares values with known. An earlier call for the same type and mode
// must have returned known. NormalizeLike does not visit a value again that v and known share under the same path
// of struct fields.
func (t *Type) NormalizeLike(v, known value.Value, mode Mode, now func() time.Time) (value.Value, error) {
	if !v.IsAbsent() && v.Same(known) {
		return v, nil
	}
	t = t.known()
	if now == nil {
		now = time.Now
	}
	w := walk{mode: mode, now: now, known: known}
	if out := w.value(t, v); w.err == nil {
		return out, nil
	}
	w = walk{mode: mode, now: now, known: known, located: true}
	w.value(t, v)
	return value.Value{}, w.err
}

// walk is one pass over a document. It continues after an error, and keeps the first error in the order of fields.
// Most documents have no errors, so that the first pass does not record its position. After an error, a second pass
// with located set does.
type walk struct {
	mode    Mode
	now     func() time.Time
	known   value.Value // the known value for the next value of the walk; absent if there is none
	located bool
	steps   []step // from the root to the current value, if located
	err     *Error
	ranks   []int // the position of w.err: the order of each field, the index of each item
}

// step is one step from a value to a value inside it.
type step struct {
	owner *Type // the struct of the field; nil for items and members of maps
	name  string
	index int
	named bool // the step is by name, not by index
	order int
}

// enter adds a step before the walk visits the value inside. leave removes the step afterwards.
func (w *walk) enter(s step) {
	if w.located {
		w.steps = append(w.steps, s)
	}
}

func (w *walk) leave() {
	if w.located {
		w.steps = w.steps[:len(w.steps)-1]
	}
}

// fail keeps err unless there is an error at an earlier position.
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

// value returns the value that a Go value of type t prints after it read v. An absent v reads like null.
func (w *walk) value(t *Type, v value.Value) value.Value {
	switch t.kind {
	case kindPointer:
		if isNothing(v) {
			return value.Null()
		}
		return w.value(t.elem, v)
	case kindStruct:
		return w.object(t, v)
	}
	w.known = value.Value{} // the walk visits all items and members of maps
	switch t.kind {
	case kindList:
		return w.list(t, v)
	case kindMap:
		return w.members(t, v)
	}
	return w.scalar(t, v)
}

func isNothing(v value.Value) bool { return v.IsAbsent() || v.IsNull() }

// object reads a struct. Fields and members are sorted by name, so that object walks both in step. A member's field
// comes after the field of the previous member. Of the fields between, object visits only the loud ones, which
// print although they were not sent.
//
//	fields   args  command  env  image!  name!  ports     (! is loud)
//	members        command                      ports  x
//	visited        command       image   name   ports     x is unknown and lost
func (w *walk) object(t *Type, v value.Value) value.Value {
	switch {
	case isNothing(v):
		v = value.Object()
	case v.Kind() != value.KindObject:
		return w.fail(w.mismatch(t, v))
	}
	fields := t.all()
	if w.mode&Defaults != 0 {
		v = t.defaults.fill(v, env{w.now, w.mode&Stored != 0})
	}
	known := w.known
	w.known = value.Value{}
	r := revision{from: v, room: len(fields)}
	loud := t.loud // the loud fields that are still ahead
	for i := range v.Len() {
		m := v.Member(i)
		at, declared := t.seek(m.Name)
		for ; len(loud) > 0 && loud[0] < at; loud = loud[1:] {
			r.add(&fields[loud[0]], w.field(t, &fields[loud[0]], value.Value{}))
		}
		if !declared {
			r.copy()
			continue
		}
		if len(loud) > 0 && loud[0] == at {
			loud = loud[1:]
		}
		printed := m.Value
		if f := &fields[at]; !f.bare.prints(m.Value) {
			if !known.IsAbsent() {
				w.known = known.Get(m.Name)
			}
			if w.known.IsAbsent() || !m.Value.Same(w.known) {
				printed = w.field(t, f, m.Value)
			}
			w.known = value.Value{}
		}
		r.revise(i, m, printed)
	}
	for _, at := range loud {
		r.add(&fields[at], w.field(t, &fields[at], value.Value{}))
	}
	v = r.object()
	if w.mode&Printed != 0 && t.prints != nil {
		return t.prints(v)
	}
	return v
}

// prints reports whether type k, or a pointer to it, prints v unchanged. It is a fast check for the most common
// values: texts, numbers and booleans that are not zero.
func (k kind) prints(v value.Value) bool {
	switch v.Kind() {
	case value.KindString:
		return k == kindString && v.Str() != ""
	case value.KindInt:
		n := v.Int()
		return n != 0 && (k == kindInt64 || k == kindInt32 && int64(int32(n)) == n)
	case value.KindBool:
		return k == kindBool && v.Bool()
	}
	return false
}

// field returns the value that struct t prints for f after it read v. It is absent if the field is left out.
func (w *walk) field(t *Type, f *field, v value.Value) value.Value {
	if f.isSetToZeroTime(v, w.mode) {
		return value.Null()
	}
	if f.silent && isNothing(v) {
		return value.Value{}
	}
	w.enter(step{owner: t, name: f.name, named: true, order: f.order})
	printed := w.value(f.typ, v)
	w.leave()
	if w.mode&Spelled != 0 && (f.typ.kind == kindList || f.typ.kind == kindMap) && !printed.IsNull() {
		return printed
	}
	if f.omitEmpty && f.typ.isEmpty(printed) || f.omitZero && f.typ.isZero(printed) {
		return value.Value{}
	}
	return printed
}

// isSetToZeroTime reports whether f is a pointer, and reading v makes it point to the zero time. Such a pointer
// prints as null, because omitempty leaves out nil pointers only. Protocol buffers keep the pointer. A null in a
// value that was printed before therefore stands for it.
func (f *field) isSetToZeroTime(v value.Value, mode Mode) bool {
	switch {
	case f.typ.kind != kindPointer || f.bare != kindTime && f.bare != kindMicroTime:
		return false
	case v.IsNull():
		return mode&(Again|Stored) != 0 && mode&Converted == 0
	case f.bare == kindMicroTime:
		return isZeroTime(v, microTime)
	}
	return isZeroTime(v, time.RFC3339)
}

// isZeroTime reports whether v is a text of the zero time in this layout, in any zone.
func isZeroTime(v value.Value, layout string) bool {
	if v.Kind() != value.KindString || v.Str() == "" {
		return false
	}
	t, err := time.Parse(layout, v.Str())
	return err == nil && t.IsZero()
}

// isEmpty reports whether omitempty leaves out the Go value of printed. Structs are never empty, and neither are values
// of another kind than t.
func (t *Type) isEmpty(printed value.Value) bool {
	switch t.kind {
	case kindPointer:
		return printed.IsNull()
	case kindList:
		return isNothing(printed) || printed.Kind() == value.KindList && printed.Len() == 0
	case kindMap:
		return isNothing(printed) || printed.Kind() == value.KindObject && printed.Len() == 0
	case kindString, kindBytes:
		return printed.Kind() == value.KindString && printed.Str() == ""
	case kindBool:
		return printed.Kind() == value.KindBool && !printed.Bool()
	case kindInt32, kindInt64, kindFloat:
		return (printed.Kind() == value.KindInt || printed.Kind() == value.KindFloat) && printed.Float() == 0
	}
	return false
}

// isZero reports whether omitzero leaves out the Go value of printed.
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
	var out []value.Value // nil while the items so far are unchanged
	for i := range v.Len() {
		item := v.Item(i)
		if out == nil && t.elem.kind.prints(item) {
			continue
		}
		w.enter(step{index: i, order: i})
		printed := w.value(t.elem, item)
		w.leave()
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
	if w.mode&Defaults != 0 {
		v = t.defaults.fill(v, env{w.now, w.mode&Stored != 0})
	}
	var out []value.Member // nil while the members so far are unchanged
	for i := range v.Len() {
		m := v.Member(i)
		if out == nil && t.elem.kind.prints(m.Value) {
			continue
		}
		w.enter(step{name: m.Name, named: true, order: i})
		printed := w.value(t.elem, m.Value)
		w.leave()
		if printed.IsNull() && w.mode&Stored != 0 {
			printed = t.elem.stored()
		}
		if out == nil && !printed.Same(m.Value) {
			out = started(v, i, v.Len())
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

// stored returns the value of a null member of a map after it was stored and read back.
func (t *Type) stored() value.Value {
	switch t.kind {
	case kindBytes:
		return value.String("")
	case kindList:
		return value.List()
	}
	return value.Null()
}
