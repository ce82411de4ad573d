package jsontext

import "unicode/utf8"

// Style selects the printed form of strings. Readers that accept a style read the same string from all styles, unless it has
// bytes that are not UTF-8.
//
//	                            Standard  HTML     Bare
//	< > & U+2028 U+2029         escaped   escaped  stay
//	a byte that is not UTF-8    \ufffd    \ufffd   stays
//	backspace and form feed     \b \f     \u0008   \u0008
type Style uint8

const (
	Standard Style = iota // as encoding/json prints
	HTML                  // as json-iterator prints values in names of fieldsV1
	Bare                  // as json-iterator prints those names
)

// AppendString appends s to b as a JSON string, quotes included.
func AppendString(b []byte, s string, style Style) []byte {
	b = append(b, '"')
	b = AppendContent(b, s, style)
	return append(b, '"')
}

// AppendContent appends what AppendString appends, without the quotes.
func AppendContent(b []byte, s string, style Style) []byte {
	if style == Bare {
		return appendBare(b, s)
	}
	if i := simpleEnd(s, 0); i < len(s) {
		return appendRest(b, s, i, style)
	}
	return append(b, s...)
}

func appendBare(b []byte, s string) []byte {
	for {
		i := PlainEnd(s, 0)
		b = append(b, s[:i]...)
		if i == len(s) {
			return b
		}
		b = appendEscape(b, rune(s[i]), Bare)
		s = s[i+1:]
	}
}

// Simple reports the ASCII bytes that every style prints unchanged.
var Simple = func() (t [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\' && c != '<' && c != '>' && c != '&'
	}
	return t
}()

// appendRest appends s in a style other than Bare. Its first i bytes are printed unchanged.
func appendRest(b []byte, s string, i int, style Style) []byte {
	start := 0
	for i < len(s) {
		r, size := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		if Simple[s[i]] || size > 1 && r != '\u2028' && r != '\u2029' {
			i += size
			continue
		}
		b = appendEscape(append(b, s[start:i]...), r, style)
		i += size
		start = i
	}
	return append(b, s[start:]...)
}

func appendEscape(b []byte, r rune, style Style) []byte {
	const hex = "0123456789abcdef"
	switch {
	case r == '"' || r == '\\':
		return append(b, '\\', byte(r))
	case r == '\n':
		return append(b, `\n`...)
	case r == '\r':
		return append(b, `\r`...)
	case r == '\t':
		return append(b, `\t`...)
	case r == '\b' && style == Standard:
		return append(b, `\b`...)
	case r == '\f' && style == Standard:
		return append(b, `\f`...)
	}
	return append(b, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
}
