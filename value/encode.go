package value

import (
	"math"
	"slices"
	"strconv"

	"github.com/deed-project/deed/internal/jsontext"
)

// Printing, as encoding/json prints. Cost: linear in the text. Appending to a slice with enough
// capacity allocates nothing.

// AppendJSON appends v as canonical JSON text to b. The text equals byte for byte the output of
// encoding/json for the same data in maps and slices. Names are sorted, there is no white space,
// and numbers have their shortest form. The characters <, >, &, U+2028 and U+2029 are escaped. The
// absent Value prints as null.
//
// [Parse] of the text returns an Equal value, with two exceptions. Bytes that are not UTF-8 print
// as U+FFFD. A whole float of 2^53 or more prints as the shortest integer that rounds to it, not
// with its own digits: 1<<62 prints as 4611686018427388000.
func (v Value) AppendJSON(b []byte) []byte {
	if len(b) == cap(b) {
		b = slices.Grow(b, v.textLen())
	}
	return v.append(b)
}

// textLen returns an estimate of the bytes that [Value.AppendJSON] appends.
func (v Value) textLen() int {
	switch v.Kind() {
	case KindString:
		return v.len() + len(`""`)
	case KindList:
		n := len("[]")
		for _, item := range v.items() {
			n += item.textLen() + len(",")
		}
		return n
	case KindObject:
		n := len("{}")
		for _, m := range v.members() {
			n += len(m.Name) + m.Value.textLen() + len(`"":,`)
		}
		return n
	}
	return len("12345")
}

// room returns n minus an estimate of the bytes of v's text. It stops once the result is negative.
func (v Value) room(n int) int {
	switch v.Kind() {
	case KindString:
		return n - v.len() - len(`""`)
	case KindList:
		n -= len("[]")
		for _, item := range v.items() {
			if n = item.room(n - len(",")); n < 0 {
				return n
			}
		}
		return n
	case KindObject:
		n -= len("{}")
		for _, m := range v.members() {
			if n = m.Value.room(n - len(m.Name) - len(`"":,`)); n < 0 {
				return n
			}
		}
		return n
	}
	return n - len("1")
}

// append is AppendJSON without the reservation of memory.
func (v Value) append(b []byte) []byte {
	switch v.Kind() {
	case KindBool:
		return strconv.AppendBool(b, v.Bool())
	case KindInt:
		return strconv.AppendInt(b, v.Int(), 10)
	case KindFloat:
		return appendFloat(b, v.Float())
	case KindString:
		return jsontext.AppendString(b, v.str(), jsontext.Standard)
	case KindList:
		b = append(b, '[')
		for i, item := range v.list() {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.append(b)
		}
		return append(b, ']')
	case KindObject:
		b = append(b, '{')
		for i, m := range v.object() {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(jsontext.AppendString(b, m.Name, jsontext.Standard), ':')
			b = m.Value.append(b)
		}
		return append(b, '}')
	}
	return append(b, "null"...)
}

// MarshalJSON implements [encoding/json.Marshaler] by [Value.AppendJSON].
func (v Value) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil), nil }

// appendFloat prints f as encoding/json does: ES6 number formatting with a two-digit exponent
// shortened to one.
func appendFloat(b []byte, f float64) []byte {
	format := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	b = strconv.AppendFloat(b, f, format, -1, 64)
	if n := len(b); format == 'e' && b[n-4] == 'e' && b[n-3] == '-' && b[n-2] == '0' {
		b = append(b[:n-2], b[n-1]) // e-09 becomes e-9
	}
	return b
}
