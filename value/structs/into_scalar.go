package structs

import (
	"encoding"
	"reflect"
	"strconv"

	"github.com/deed-project/deed/value"
)

// fillScalar sets the Go value at to, whose plan is p, to v, a boolean, number or string.
func fillScalar(v value.Value, p *plan, to memory) *fault {
	fits := false
	switch k := v.Kind(); p.shape {
	case shapeString:
		if fits = k == value.KindString; fits {
			write(to, v.Str())
		}
	case shapeBool:
		if fits = k == value.KindBool; fits {
			write(to, v.Bool())
		}
	case shapeInt:
		fits = isNumber(v) && fillInt(v, p, to)
	case shapeUint:
		fits = isNumber(v) && fillUint(v, p, to)
	case shapeFloat:
		fits = isNumber(v) && fillFloat(v, p, to)
	case shapeNumber:
		fits = fillNumber(v, to)
	case shapeBytes, shapeSlice:
		if k == value.KindString && p.typ.Elem().Kind() == reflect.Uint8 {
			b, err := base64Of(v)
			if err == nil {
				write(to, b)
			}
			return err
		}
	}
	if !fits {
		return misfit(v, p.typ)
	}
	return nil
}

// fillInt takes a float as the integer in its JSON text, if that has neither fraction nor exponent.
func fillInt(v value.Value, p *plan, to memory) bool {
	i := v.Int()
	if v.Kind() == value.KindFloat {
		var err error
		if i, err = strconv.ParseInt(v.String(), 10, 64); err != nil {
			return false
		}
	}
	return p.setInt(to, i)
}

func fillUint(v value.Value, p *plan, to memory) bool {
	u := uint64(v.Int())
	if v.Kind() == value.KindFloat || v.Int() < 0 {
		var err error
		if u, err = strconv.ParseUint(v.String(), 10, 64); err != nil {
			return false
		}
	}
	return p.setUint(to, u)
}

func fillFloat(v value.Value, p *plan, to memory) bool {
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

// fillNumber fills a json.Number with a number, or with a string that holds a number.
func fillNumber(v value.Value, to memory) bool {
	s := v.String()
	if v.Kind() == value.KindString {
		s = v.Str()
		if _, err := fromNumber(s); err != nil || s == "" {
			return false
		}
	} else if !isNumber(v) {
		return false
	}
	write(to, s)
	return true
}

// mapKey holds the keys of a map, one after the other.
type mapKey struct {
	at     reflect.Value
	method encoding.TextUnmarshaler // the address of at, or nil if it has no such method
}

func keyOf(t reflect.Type) mapKey {
	at := reflect.New(t)
	method, _ := reflect.TypeAssert[encoding.TextUnmarshaler](at)
	return mapKey{at.Elem(), method}
}

// read sets k to the key that prints as name.
func (k mapKey) read(name string) *fault {
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
