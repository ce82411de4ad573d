package structs

import (
	"encoding"
	"encoding/json"
	"math/bits"
	"reflect"
)

// method is a way in which a Go type prints itself as JSON or fills itself from JSON.
type method uint8

const (
	noMethod method = iota
	toUnstructuredErr
	toUnstructured
	marshalJSON
	marshalText
	unmarshalJSON
	unmarshalText
)

// unstructuredErr and unstructured are interfaces of Kubernetes types. They return the value that
// MarshalJSON prints, without text.
type (
	unstructuredErr interface {
		json.Marshaler
		ToUnstructuredWithError() (any, error)
	}
	unstructured interface {
		json.Marshaler
		ToUnstructured() any
	}
	zeroer interface{ IsZero() bool }
)

var (
	unstructuredErrType  = reflect.TypeFor[unstructuredErr]()
	unstructuredType     = reflect.TypeFor[unstructured]()
	marshalerType        = reflect.TypeFor[json.Marshaler]()
	textMarshalerType    = reflect.TypeFor[encoding.TextMarshaler]()
	unmarshalerType      = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshalerType  = reflect.TypeFor[encoding.TextUnmarshaler]()
	zeroerType           = reflect.TypeFor[zeroer]()
	printers, printsWith = []reflect.Type{unstructuredErrType, unstructuredType, marshalerType, textMarshalerType},
		[]method{toUnstructuredErr, toUnstructured, marshalJSON, marshalText}
)

// printerOf returns the method that prints values of t: the method of the first printer that t
// implements.
func printerOf(t reflect.Type) method {
	for i, printer := range printers {
		if t.Implements(printer) {
			return printsWith[i]
		}
	}
	return noMethod
}

// readerOf returns the method of *t that fills a t.
func readerOf(t reflect.Type) method {
	switch p := reflect.PointerTo(t); {
	case p.Implements(unmarshalerType):
		return unmarshalJSON
	case p.Implements(textUnmarshalerType):
		return unmarshalText
	}
	return noMethod
}

// isText reports whether t can be the type of a map's keys: strings, integers, and types that print
// themselves as text.
func isText(t reflect.Type) bool {
	return t.Kind() == reflect.String || t.Kind() >= reflect.Int && t.Kind() <= reflect.Uintptr ||
		t.Implements(textMarshalerType)
}

func zeroTestOf(t reflect.Type) zeroTest {
	switch {
	case t.Implements(zeroerType):
		return zeroByMethod
	case reflect.PointerTo(t).Implements(zeroerType):
		return zeroByAddrOnly
	}
	return zeroInMemory
}

// emptyTestOf returns the test for an empty field of type t. For emptyWord, it also returns the
// offset of the word.
func emptyTestOf(t reflect.Type) (test emptyTest, word uint8) {
	switch k := t.Kind(); {
	case k == reflect.Interface || k == reflect.Pointer:
		return emptyWord, 0
	case k == reflect.String || k == reflect.Slice:
		return emptyWord, lengthWord
	case k == reflect.Map:
		return emptyMap, 0
	case k == reflect.Array && t.Len() == 0:
		return alwaysEmpty, 0
	case k == reflect.Float32:
		return emptyFloat32, 0
	case k == reflect.Float64:
		return emptyFloat64, 0
	case isScalar(k):
		return empty8 + emptyTest(bits.TrailingZeros(uint(t.Size()))), 0
	}
	return neverEmpty, 0
}

// omits reports whether the tag of f omits the member for the field at m.
func (f *field) omits(m memory) bool {
	empty := false
	switch f.empty {
	case emptyWord:
		empty = f.isZeroWord(m)
	case empty8:
		empty = read[uint8](m) == 0
	case empty16:
		empty = read[uint16](m) == 0
	case empty32:
		empty = read[uint32](m) == 0
	case empty64:
		empty = read[uint64](m) == 0
	case emptyFloat32:
		empty = read[float32](m) == 0
	case emptyFloat64:
		empty = read[float64](m) == 0
	case emptyMap:
		empty = m.isNil() || m.reflect(f.plan.typ).Len() == 0
	case alwaysEmpty:
		empty = true
	}
	return empty || f.omitZero != neverZero && f.isZero(m)
}

// isZeroWord is a fast path of omits. Most fields of most structs are empty, and one word shows it.
// The compiler inlines isZeroWord.
func (f *field) isZeroWord(m memory) bool {
	return f.empty == emptyWord && read[uintptr](m.after(uintptr(f.word))) == 0
}

// isZero reports whether m is zero, as defined by the tag option "omitzero".
func (f *field) isZero(m memory) bool {
	if f.omitZero == zeroByAddrOnly {
		return m.address(f.plan.typ).(zeroer).IsZero()
	}
	v := m.reflect(f.plan.typ)
	if f.omitZero == zeroInMemory {
		return v.IsZero()
	}
	if isNil(v) || v.Kind() == reflect.Interface && isNil(v.Elem()) {
		return true
	}
	z, _ := reflect.TypeAssert[zeroer](v)
	return z.IsZero()
}

// isNil reports whether v is a nil interface or pointer. No method is called on those.
func isNil(v reflect.Value) bool {
	return (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) && v.IsNil()
}
