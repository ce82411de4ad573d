package value

import (
	"encoding"
	"reflect"
	"strconv"
)

// fillScalar sets what lies at to, whose type p is for, to v, a boolean, number or string.
func (v Value) fillScalar(p *plan, to memory) *ConversionError {
	fits := false
	switch k := v.Kind(); p.shape {
	case shapeString:
		if fits = k == KindString; fits {
			write(to, v.str())
		}
	case shapeBool:
		if fits = k == KindBool; fits {
			write(to, v.Bool())
		}
	case shapeInt:
		fits = v.isNumber() && v.fillInt(p, to)
	case shapeUint:
		fits = v.isNumber() && v.fillUint(p, to)
	case shapeFloat:
		fits = v.isNumber() && v.fillFloat(p, to)
	case shapeNumber:
		fits = v.fillNumber(to)
	case shapeBytes, shapeSlice:
		if k == KindString && p.typ.Elem().Kind() == reflect.Uint8 {
			b, err := v.bytes()
			if err == nil {
				write(to, b)
			}
			return err
		}
	}
	if !fits {
		return v.misfit(p.typ)
	}
	return nil
}

// fillInt takes a float whose text has neither fraction nor exponent for the integer that the text says.
func (v Value) fillInt(p *plan, to memory) bool {
	i := v.Int()
	if v.Kind() == KindFloat {
		var err error
		if i, err = strconv.ParseInt(v.String(), 10, 64); err != nil {
			return false
		}
	}
	return p.setInt(to, i)
}

func (v Value) fillUint(p *plan, to memory) bool {
	u := uint64(v.Int())
	if v.Kind() == KindFloat || v.Int() < 0 {
		var err error
		if u, err = strconv.ParseUint(v.String(), 10, 64); err != nil {
			return false
		}
	}
	return p.setUint(to, u)
}

func (v Value) fillFloat(p *plan, to memory) bool {
	if p.size == 4 {
		f, err := strconv.ParseFloat(v.String(), 32)
		if err == nil {
			write(to, float32(f))
		}
		return err == nil
	}
	write(to, v.Float())
	return true
}

// fillNumber fills a json.Number, from a string too when that holds a number.
func (v Value) fillNumber(to memory) bool {
	s := v.String()
	if v.Kind() == KindString {
		s = v.str()
		if _, err := fromNumber(s); err != nil || s == "" {
			return false
		}
	} else if !v.isNumber() {
		return false
	}
	write(to, s)
	return true
}

// mapKey is room for the keys of a map, one after the other.
type mapKey struct {
	at     reflect.Value
	method encoding.TextUnmarshaler // of the address of at, or nil
}

func keyOf(t reflect.Type) mapKey {
	at := reflect.New(t)
	method, _ := reflect.TypeAssert[encoding.TextUnmarshaler](at)
	return mapKey{at.Elem(), method}
}

// read makes k the key that prints as name.
func (k mapKey) read(name string) *ConversionError {
	t := k.at.Type()
	if k.method != nil {
		k.at.SetZero()
		if err := k.method.UnmarshalText([]byte(name)); err != nil {
			return failure("UnmarshalText", t, err)
		}
		return nil
	}
	fits := false
	switch {
	case k.at.Kind() == reflect.String:
		k.at.SetString(name)
		return nil
	case k.at.CanInt():
		i, err := strconv.ParseInt(name, 10, 64)
		if fits = err == nil && !k.at.OverflowInt(i); fits {
			k.at.SetInt(i)
		}
	case k.at.CanUint():
		u, err := strconv.ParseUint(name, 10, 64)
		if fits = err == nil && !k.at.OverflowUint(u); fits {
			k.at.SetUint(u)
		}
	}
	if !fits {
		return inexpressible("name %q does not fit Go type %v, the type of the map's keys", name, t)
	}
	return nil
}
