package value

import (
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// AppendJSON appends v as canonical JSON text to b: byte for byte what encoding/json prints for the same data held in maps
// and slices. Names are sorted, there is no white space, numbers have their shortest form, and the characters <, > and &
// and U+2028 and U+2029 are escaped. The absent Value prints as null.
//
// [Parse] makes an Equal value of the text, with two exceptions. Bytes that are not UTF-8 print as U+FFFD. And a whole float of
// 2^53 and more prints as the shortest integer that rounds to it, not by its own digits: 1<<62 as 4611686018427388000.
func (v Value) AppendJSON(b []byte) []byte {
	if len(b) == cap(b) {
		b = slices.Grow(b, v.TextLen())
	}
	return v.append(b)
}

// TextLen returns about how many bytes [Value.AppendJSON] appends: what to reserve, when there is more to print.
func (v Value) TextLen() int {
	switch v.Kind() {
	case KindString:
		return v.len() + len(`""`)
	case KindList:
		n := len("[]")
		for _, item := range v.items() {
			n += item.TextLen() + len(",")
		}
		return n
	case KindObject:
		n := len("{}")
		for _, m := range v.members() {
			n += len(m.Name) + m.Value.TextLen() + len(`"":,`)
		}
		return n
	}
	return len("12345")
}

// append is AppendJSON without a look at the room that there is.
func (v Value) append(b []byte) []byte {
	switch v.Kind() {
	case KindBool:
		return strconv.AppendBool(b, v.Bool())
	case KindInt:
		return strconv.AppendInt(b, v.Int(), 10)
	case KindFloat:
		return appendFloat(b, v.Float())
	case KindString:
		return AppendString(b, v.str())
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
			b = append(AppendString(b, m.Name), ':')
			b = m.Value.append(b)
		}
		return append(b, '}')
	}
	return append(b, "null"...)
}

// MarshalJSON implements [encoding/json.Marshaler] by [Value.AppendJSON].
func (v Value) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil), nil }

// appendFloat prints f as encoding/json does: ES6 number formatting with a two-digit exponent shortened to one.
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

// escaped tells which ASCII bytes AppendString cannot copy as they are.
var escaped = func() (t [utf8.RuneSelf]bool) {
	for c := range t {
		t[c] = c < ' ' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&'
	}
	return t
}()

// AppendString appends s to b as a JSON string, quotes included, as [Value.AppendJSON] prints strings.
func AppendString(b []byte, s string) []byte {
	b = append(b, '"')
	if i := verbatim(s); i < len(s) {
		return append(appendUnverbatim(b, s, i), '"')
	}
	return append(append(b, s...), '"')
}

// verbatim returns how many bytes of s, from its start on, are printed as they are. There may be more behind the next eight.
//
// It looks at eight bytes at once, as plainEnd does. '<' and '>' differ in one bit only, and so do '"' and '&'.
func verbatim(s string) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(s); i += 8 {
		word := littleEndian(s[i : i+8])
		angle, quote, backslash := word&^(2*ones)^'<'*ones, word&^(4*ones)^'"'*ones, word^'\\'*ones
		if ((word-' '*ones)|(angle-ones)|(quote-ones)|(backslash-ones)|word)&high != 0 {
			return i
		}
	}
	for i < len(s) && s[i] < utf8.RuneSelf && !escaped[s[i]] {
		i++
	}
	return i
}

func littleEndian(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// appendUnverbatim appends s, whose first i bytes are printed as they are, without quotes.
func appendUnverbatim(b []byte, s string, i int) []byte {
	start := 0
	for i < len(s) {
		if c := s[i]; c < utf8.RuneSelf {
			if !escaped[c] {
				i++
				continue
			}
			b = appendEscape(append(b, s[start:i]...), rune(c))
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 || r == '\u2028' || r == '\u2029' {
			b = appendEscape(append(b, s[start:i]...), r)
			start = i + size
		}
		i += size
	}
	return append(b, s[start:]...)
}

func appendEscape(b []byte, r rune) []byte {
	const hex = "0123456789abcdef"
	switch r {
	case '"', '\\':
		return append(b, '\\', byte(r))
	case '\b':
		return append(b, `\b`...)
	case '\f':
		return append(b, `\f`...)
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	}
	return append(b, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
}
