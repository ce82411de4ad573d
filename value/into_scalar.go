package value

import (
	"encoding"
	"reflect"
	"strconv"
)

// fillScalar sets to to v, a boolean, number or string.
func (v Value) fillScalar(p *plan, to reflect.Value) *ConversionError {
	fits := false
	switch k := v.Kind(); p.shape {
	case shapeBool:
		if fits = k == KindBool; fits {
			to.SetBool(v.Bool())
		}
	case shapeString:
		if fits = k == KindString; fits {
			to.SetString(v.str())
		}
	case shapeInt:
		fits = isNumber(k) && v.fillInt(to)
	case shapeUint:
		fits = isNumber(k) && v.fillUint(to)
	case shapeFloat:
		fits = isNumber(k) && v.fillFloat(to)
	case shapeNumber:
		fits = v.fillNumber(to)
	case shapeBytes, shapeSlice:
		if k == KindString && p.typ.Elem().Kind() == reflect.Uint8 {
			return v.fillBytes(to)
		}
	}
	if !fits {
		return v.misfit(p.typ)
	}
	return nil
}

// fillInt takes a float whose text has neither fraction nor exponent for the integer that the text says.
func (v Value) fillInt(to reflect.Value) bool {
	i := v.Int()
	if v.Kind() == KindFloat {
		var err error
		if i, err = strconv.ParseInt(v.String(), 10, 64); err != nil {
			return false
		}
	}
	if to.OverflowInt(i) {
		return false
	}
	to.SetInt(i)
	return true
}

func (v Value) fillUint(to reflect.Value) bool {
	u := uint64(v.Int())
	if v.Kind() == KindFloat || v.Int() < 0 {
		var err error
		if u, err = strconv.ParseUint(v.String(), 10, 64); err != nil {
			return false
		}
	}
	if to.OverflowUint(u) {
		return false
	}
	to.SetUint(u)
	return true
}

func (v Value) fillFloat(to reflect.Value) bool {
	f := v.Float()
	if to.Kind() == reflect.Float32 {
		var err error
		if f, err = strconv.ParseFloat(v.String(), 32); err != nil {
			return false
		}
	}
	to.SetFloat(f)
	return true
}

// fillNumber fills a json.Number, from a string too when that holds a number.
func (v Value) fillNumber(to reflect.Value) bool {
	s := v.String()
	if v.Kind() == KindString {
		s = v.str()
		if _, err := fromNumber(s); err != nil || s == "" {
			return false
		}
	} else if !isNumber(v.Kind()) {
		return false
	}
	to.SetString(s)
	return true
}

// keyFrom returns the map key of type t that prints as name.
func keyFrom(name string, t reflect.Type) (reflect.Value, *ConversionError) {
	key := reflect.New(t)
	if u, ok := reflect.TypeAssert[encoding.TextUnmarshaler](key); ok {
		if err := u.UnmarshalText([]byte(name)); err != nil {
			return key, failure("UnmarshalText", t, err)
		}
		return key.Elem(), nil
	}
	key, fits := key.Elem(), false
	switch {
	case key.Kind() == reflect.String:
		key.SetString(name)
		return key, nil
	case key.CanInt():
		i, err := strconv.ParseInt(name, 10, 64)
		if fits = err == nil && !key.OverflowInt(i); fits {
			key.SetInt(i)
		}
	case key.CanUint():
		u, err := strconv.ParseUint(name, 10, 64)
		if fits = err == nil && !key.OverflowUint(u); fits {
			key.SetUint(u)
		}
	}
	if !fits {
		return key, inexpressible("name %q does not fit Go type %v, the type of the map's keys", name, t)
	}
	return key, nil
}
