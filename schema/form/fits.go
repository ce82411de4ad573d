package form

import (
	"encoding/base64"
	"strings"
	"time"

	"github.com/deed-project/deed/value"
)

// Fits reports whether strict decoding surely reads v into a Go value of type t without an error. Each member of a
// struct must be one of its fields, and each value must have the kind of its place. False means unknown: Fits does
// not check rare types and spellings.
//
// Cost: linear in the size of v.
func (t *Type) Fits(v value.Value) bool {
	t = t.known()
	switch t.kind {
	case kindPointer:
		return v.IsNull() || t.elem.Fits(v)
	case kindStruct:
		return v.IsNull() || v.Kind() == value.KindObject && t.fieldsFit(v)
	case kindMap:
		return v.IsNull() || v.Kind() == value.KindObject && t.membersFit(v)
	case kindList:
		return v.IsNull() || v.Kind() == value.KindList && t.itemsFit(v)
	}
	return t.kind.fits(v)
}

func (t *Type) fieldsFit(v value.Value) bool {
	fields := t.all()
	for i := range v.Len() {
		m := v.Member(i)
		at, declared := t.seek(m.Name)
		if !declared || !fields[at].bare.prints(m.Value) && !fields[at].typ.Fits(m.Value) {
			return false
		}
	}
	return true
}

func (t *Type) membersFit(v value.Value) bool {
	for i := range v.Len() {
		if !t.elem.Fits(v.Member(i).Value) {
			return false
		}
	}
	return true
}

func (t *Type) itemsFit(v value.Value) bool {
	for i := range v.Len() {
		if !t.elem.Fits(v.Item(i)) {
			return false
		}
	}
	return true
}

// fits is [Type.Fits] for basic types.
func (k kind) fits(v value.Value) bool {
	switch v.Kind() {
	case value.KindNull:
		return k < kindPointer || k == kindTime || k == kindMicroTime
	case value.KindString:
		return k.fitsText(v.Str())
	case value.KindBool:
		return k == kindBool || k == kindRaw
	case value.KindInt:
		n := v.Int()
		return k == kindInt64 || k == kindFloat || k == kindRaw || (k == kindInt32 || k == kindIntOrString) && int64(int32(n)) == n
	case value.KindFloat:
		return k == kindFloat || k == kindRaw
	}
	return k == kindRaw
}

// fitsText is fits for a string.
func (k kind) fitsText(text string) bool {
	var err error
	switch k {
	case kindString, kindIntOrString, kindRaw:
	case kindBytes:
		_, err = base64.StdEncoding.DecodeString(text)
	case kindQuantity:
		_, err = Quantity(strings.TrimSpace(text))
	case kindTime:
		_, err = time.Parse(time.RFC3339, text)
	case kindMicroTime:
		_, err = time.Parse(microTime, text)
	case kindDuration:
		_, err = time.ParseDuration(text)
	default:
		return false
	}
	return err == nil
}
