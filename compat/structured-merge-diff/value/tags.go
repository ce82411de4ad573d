package value

import (
	"fmt"
	"reflect"
	"strings"
)

// This file reads the json tags of struct fields as encoding/json reads them.

type zeroer interface{ IsZero() bool }

var zeroerType = reflect.TypeFor[zeroer]()

// OmitZeroFunc returns a function that reports whether the option omitzero leaves out a field of type t. If t has the method
// IsZero, the method decides, and nil is left out where it cannot be called. Otherwise the zero value is left out.
func OmitZeroFunc(t reflect.Type) func(reflect.Value) bool {
	has := t.Implements(zeroerType)
	switch kind := t.Kind(); {
	case has && kind == reflect.Interface:
		return func(v reflect.Value) bool {
			return isNil(v) || v.Elem().Kind() == reflect.Pointer && v.Elem().IsNil() || v.Interface().(zeroer).IsZero()
		}
	case has:
		return func(v reflect.Value) bool {
			return kind == reflect.Pointer && v.IsNil() || v.Interface().(zeroer).IsZero()
		}
	case reflect.PointerTo(t).Implements(zeroerType):
		return func(v reflect.Value) bool {
			if !v.CanAddr() {
				copied := reflect.New(t).Elem()
				copied.Set(v)
				v = copied
			}
			return v.Addr().Interface().(zeroer).IsZero()
		}
	}
	return reflect.Value.IsZero
}

// lookupJsonTags returns the name of a field in JSON, and its options. omit means that the field is always left out, and
// inline that its own fields count as fields of the struct. omitempty means that it is left out if empty, and omitzero if the
// function returns true.
func lookupJsonTags(f reflect.StructField) (name string, omit bool, inline bool, omitempty bool, omitzero func(reflect.Value) bool) {
	tag := f.Tag.Get("json")
	if tag == "-" || !f.IsExported() && !f.Anonymous {
		return "", true, false, false, nil
	}
	name, options, _ := strings.Cut(tag, ",")
	inline = f.Anonymous && name == ""
	if name == "" {
		name = f.Name
	}
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "omitempty":
			omitempty = true
		case "omitzero":
			omitzero = OmitZeroFunc(f.Type)
		}
	}
	return name, false, inline, omitempty, omitzero
}

// isEmpty reports whether the option omitempty leaves v out.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Interface, reflect.Pointer:
		return v.IsNil()
	case reflect.Chan, reflect.Func:
		panic(fmt.Sprintf("unsupported type: %v", v.Type()))
	case reflect.Float32, reflect.Float64:
		return v.Float() == 0 // minus zero too
	case reflect.Struct, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		return false
	}
	return v.IsZero()
}
