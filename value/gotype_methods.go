package value

import (
	"encoding"
	"encoding/json"
	"reflect"
)

// method is a way in which a Go type says itself what it is in JSON.
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

// unstructuredErr and unstructured are how Kubernetes types give the value that their MarshalJSON prints, without text.
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

// printerOf returns the method that prints values of t: the first of the printers that t implements.
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

// isText reports whether t can be the type of a map's keys: strings, integers, and types that print themselves as text.
func isText(t reflect.Type) bool {
	return t.Kind() == reflect.String || t.Kind() >= reflect.Int && t.Kind() <= reflect.Uintptr || t.Implements(textMarshalerType)
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

// omits reports whether the tag of f says that a struct with v in that field has no such member.
func (f *field) omits(v reflect.Value) bool {
	return f.omitEmpty && isEmpty(v) || f.omitZero != neverZero && f.isZero(v)
}

func isEmpty(v reflect.Value) bool {
	switch k := v.Kind(); {
	case k == reflect.Map || k == reflect.Slice || k == reflect.String || k == reflect.Array:
		return v.Len() == 0
	case isScalar(k) || k == reflect.Interface || k == reflect.Pointer:
		return v.IsZero()
	}
	return false
}

func (f *field) isZero(v reflect.Value) bool {
	switch f.omitZero {
	case zeroByMethod:
		if isNil(v) || v.Kind() == reflect.Interface && isNil(v.Elem()) {
			return true
		}
		z, _ := reflect.TypeAssert[zeroer](v)
		return z.IsZero()
	case zeroByAddrOnly:
		if !v.CanAddr() {
			boxed := reflect.New(v.Type()).Elem()
			boxed.Set(v)
			v = boxed
		}
		z, _ := reflect.TypeAssert[zeroer](v.Addr())
		return z.IsZero()
	}
	return v.IsZero()
}

// isNil reports whether v is an interface or pointer that is nil: no methods are called on those.
func isNil(v reflect.Value) bool {
	return (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) && v.IsNil()
}
