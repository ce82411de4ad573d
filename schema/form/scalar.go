package form

import (
	"encoding/base64"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/deed-project/deed/value"
)

// scalar returns the value that a basic type prints after it read v.
func (w *walk) scalar(t *Type, v value.Value) value.Value {
	nothing := isNothing(v)
	switch t.kind {
	case kindString:
		return w.simple(t, v, value.KindString, value.String(""))
	case kindBool:
		return w.simple(t, v, value.KindBool, value.Bool(false))
	case kindInt32, kindInt64:
		return w.integer(t, v)
	case kindFloat:
		if v.Kind() == value.KindInt {
			return v
		}
		return w.simple(t, v, value.KindFloat, value.Int(0))
	case kindBytes:
		return w.bytes(t, v)
	case kindQuantity:
		return w.quantity(v)
	case kindTime:
		return w.time(v, time.RFC3339, time.RFC3339)
	case kindMicroTime:
		return w.time(v, microTime, microTime)
	case kindDuration:
		return w.duration(v)
	case kindIntOrString:
		return w.intOrString(v)
	case kindRaw:
		if nothing {
			return value.Null()
		}
		return v
	}
	return w.schemaOr(t, v)
}

// microTime is the layout of times with microseconds.
const microTime = "2006-01-02T15:04:05.000000Z07:00"

// simple reads a value that prints unchanged. It returns zero if v is absent or null.
func (w *walk) simple(t *Type, v value.Value, kind value.Kind, zero value.Value) value.Value {
	switch {
	case isNothing(v):
		return zero
	case v.Kind() != kind:
		return w.fail(w.mismatch(t, v))
	}
	return v
}

func (w *walk) integer(t *Type, v value.Value) value.Value {
	switch {
	case isNothing(v):
		return value.Int(0)
	case v.Kind() != value.KindInt && v.Kind() != value.KindFloat:
		return w.fail(w.mismatch(t, v))
	}
	if w.mode&Converted != 0 {
		if n, ok := converted(t, v); ok {
			return n
		}
	}
	whole := v.Kind() == value.KindInt
	if whole && (t.kind == kindInt64 || int64(int32(v.Int())) == v.Int()) {
		return v
	}
	err := w.mismatch(t, v)
	err.decoding = strings.Replace(err.decoding, "number", "number "+v.String(), 1)
	return w.fail(err)
}

// converted converts a whole number to t as Go does.
func converted(t *Type, v value.Value) (value.Value, bool) {
	n := v.Int()
	if v.Kind() == value.KindFloat {
		if v.Float() != math.Trunc(v.Float()) {
			return value.Value{}, false
		}
		n = int64(v.Float())
	}
	if t.kind == kindInt32 {
		n = int64(int32(n))
	}
	if v.Kind() == value.KindInt && n == v.Int() {
		return v, true
	}
	return value.Int(n), true
}

// bytes returns bytes as base64 text. Go also reads a list of numbers, in which null is 0.
func (w *walk) bytes(t *Type, v value.Value) value.Value {
	switch {
	case isNothing(v):
		return value.Null()
	case v.Kind() == value.KindList:
		raw := make([]byte, 0, v.Len())
		for item := range v.Items() {
			if n := item.Int(); n < 0 || n > math.MaxUint8 || item.Kind() != value.KindInt && !item.IsNull() {
				return w.fail(w.mismatch(t, v))
			}
			raw = append(raw, byte(item.Int()))
		}
		return value.String(base64.StdEncoding.EncodeToString(raw))
	case v.Kind() != value.KindString:
		return w.fail(w.mismatch(t, v))
	}
	decoded, err := base64.StdEncoding.DecodeString(v.Str())
	if err != nil {
		refused := w.custom(err.Error())
		refused.converting = "error decoding from json: " + err.Error()
		return w.fail(refused)
	}
	return respelled(v, base64.StdEncoding.EncodeToString(decoded))
}

// respelled returns text as a value. It returns v itself if v is that text.
func respelled(v value.Value, text string) value.Value {
	if v.Kind() == value.KindString && v.Str() == text {
		return v
	}
	return value.String(text)
}

func (w *walk) quantity(v value.Value) value.Value {
	text := "0"
	switch v.Kind() {
	case value.KindAbsent, value.KindNull:
		return value.String(text)
	case value.KindString:
		text = v.Str()
	default:
		text = v.String()
	}
	printed, err := Quantity(strings.TrimSpace(text))
	if err != nil {
		refusal := w.custom(err.Error())
		refusal.why = err
		return w.fail(refusal)
	}
	if w.mode&Spelled != 0 {
		return respelled(v, text) // a number becomes a text, too
	}
	return respelled(v, printed)
}

// time reads a time in the layout reads and prints it in the layout prints. The zero time prints as null.
func (w *walk) time(v value.Value, reads, prints string) value.Value {
	switch {
	case isNothing(v):
		return value.Null()
	case v.Kind() != value.KindString:
		return w.fail(w.customMismatch("string", v))
	}
	t, err := time.Parse(reads, v.Str())
	switch {
	case err != nil:
		return w.fail(w.custom(err.Error()))
	case t.IsZero():
		return value.Null()
	}
	return respelled(v, t.UTC().Format(prints))
}

func (w *walk) duration(v value.Value) value.Value {
	switch {
	case isNothing(v):
		return value.String("0s")
	case v.Kind() != value.KindString:
		return w.fail(w.customMismatch("string", v))
	}
	d, err := time.ParseDuration(v.Str())
	if err != nil {
		return w.fail(w.custom(err.Error()))
	}
	return respelled(v, d.String())
}

func (w *walk) intOrString(v value.Value) value.Value {
	switch v.Kind() {
	case value.KindAbsent, value.KindNull:
		return value.Int(0)
	case value.KindString:
		return v
	case value.KindInt:
		if v.Int() == int64(int32(v.Int())) {
			return v
		}
	case value.KindFloat:
	default:
		return w.fail(w.customMismatch("int32", v))
	}
	err := w.customMismatch("int32", v)
	number := fmt.Sprintf("number %v", v)
	err.decoding = strings.Replace(err.decoding, "number", number, 1)
	err.converting = strings.Replace(err.converting, "number", number, 1)
	return w.fail(err)
}

// schemaOr reads a type that is a schema or something else: a boolean, a list of schemas, or a list of names.
// Booleans and names print unchanged.
func (w *walk) schemaOr(t *Type, v value.Value) value.Value {
	switch {
	case isNothing(v):
		return value.Null()
	case v.Kind() == value.KindObject:
		return w.value(t.elem, v)
	case t.kind == kindSchemaOrArray && v.Kind() == value.KindList:
		return w.list(&Type{kind: kindList, elem: t.elem}, v)
	case t.kind == kindSchemaOrBool && v.Kind() == value.KindBool,
		t.kind == kindSchemaOrStrings && v.Kind() == value.KindList:
		return v
	}
	return w.fail(w.custom(schemaMismatch[t.kind]))
}

// schemaMismatch has the error of each such type for a value of the wrong kind.
var schemaMismatch = map[kind]string{
	kindSchemaOrBool:    "boolean or JSON schema expected",
	kindSchemaOrArray:   "array or JSON schema expected",
	kindSchemaOrStrings: "array or JSON schema expected",
}
