package value

import (
	"encoding"
	"encoding/json"
	"reflect"
)

// printed converts v, or what v points to, by the method m; p is for the type of which the value is.
func (c *converter) printed(p *plan, m method, v reflect.Value, like Value) (Value, *ConversionError) {
	if isNil(v) {
		return Null(), nil
	}
	switch m {
	case toUnstructuredErr:
		u, _ := reflect.TypeAssert[unstructuredErr](v)
		out, err := u.ToUnstructuredWithError()
		if err != nil {
			return Value{}, failure("ToUnstructuredWithError", p.typ, err)
		}
		return c.value(out, like)
	case toUnstructured:
		u, _ := reflect.TypeAssert[unstructured](v)
		return c.value(u.ToUnstructured(), like)
	case marshalText:
		u, _ := reflect.TypeAssert[encoding.TextMarshaler](v)
		text, err := u.MarshalText()
		if err != nil {
			return Value{}, failure("MarshalText", p.typ, err)
		}
		return stringLike(text, like), nil
	}
	u, _ := reflect.TypeAssert[json.Marshaler](v)
	text, err := u.MarshalJSON()
	if err != nil {
		return Value{}, failure("MarshalJSON", p.typ, err)
	}
	if out, ok := parseScalar(text, like); ok {
		return out, nil
	}
	out, err := Parse(text)
	if err != nil {
		return Value{}, failure("MarshalJSON", p.typ, err)
	}
	return out, nil
}

// stringLike returns text as a string, which is like if that is the same.
func stringLike(text []byte, like Value) Value {
	if like.Kind() == KindString && like.str() == string(text) {
		return like
	}
	return String(string(text))
}

// parseScalar parses text that is a string without escapes, or a short integer, and nothing else: most methods print such. It
// takes no parser, which costs more than such text.
func parseScalar(text []byte, like Value) (Value, bool) {
	if n := len(text); n >= 2 && text[0] == '"' && plainEnd(text, 1) == n-1 && text[n-1] == '"' {
		return stringLike(text[1:n-1], like), true
	}
	return parseInt(text)
}

// parseInt parses text that is a JSON integer of at most [maxDigits] digits, and nothing else.
func parseInt[T string | []byte](text T) (Value, bool) {
	first := 0
	if len(text) > 0 && text[0] == '-' {
		first = 1
	}
	digits := len(text) - first
	if digits < 1 || digits > maxDigits || digits > 1 && text[first] == '0' {
		return Value{}, false
	}
	n := int64(0)
	for i := first; i < len(text); i++ {
		c := text[i] - '0'
		if c > 9 {
			return Value{}, false
		}
		n = n*10 + int64(c)
	}
	if first > 0 {
		n = -n
	}
	return Int(n), true
}
