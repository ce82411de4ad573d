package fieldpath

import (
	"math"
	"strconv"
	"unicode/utf8"
)

// style is one of the ways in which elements are written.
type style uint8

const (
	styleWire    style = iota // in fieldsV1: k:{"name":"a\u003cb"}
	styleText                 // in Path.Text: [name="a<b"]
	styleDisplay              // in String: the same, but numbers and strings as Go prints them
	styleDecimal              // in Decimal: the same as in String, but integers in decimal
)

// AppendWire appends e to b as fieldsV1 names it: f:name, k:{"port":80}, v:"item" or i:0. The zero Element appends nothing.
//
// Numbers are written in one way, whatever they were read from: integers in decimal, other numbers in the fewest digits that
// mean them, with an exponent below 1e-06 and from 1e+21.
func (e Element) AppendWire(b []byte) []byte {
	switch e.kind {
	case KindField:
		return append(append(b, "f:"...), e.text...)
	case KindKey:
		b = append(b, "k:{"...)
		for text, first := e.text, true; text != ""; first = false {
			if !first {
				b = append(b, ',')
			}
			var name string
			name, text = cutText(text)
			b = append(appendString(b, name), ':')
			b, text = appendEncoded(b, text, styleWire)
		}
		return append(b, '}')
	case KindItem:
		b, _ = appendEncoded(append(b, "v:"...), e.text, styleWire)
	case KindIndex:
		b = strconv.AppendInt(append(b, "i:"...), int64(decodeIndex(e.text)), 10)
	}
	return b
}

// Wire returns what [Element.AppendWire] appends.
func (e Element) Wire() string {
	if e.kind == KindField {
		return "f:" + e.text
	}
	return string(e.AppendWire(nil))
}

// String returns e as messages show it: .name, [name="web",port=80], [="item"] or [3]. Names stand as they are, strings
// are quoted as by %q, and numbers are printed as a float64 is by %v, so different elements may look alike; AppendText
// tells them apart.
func (e Element) String() string {
	if e.kind == KindField {
		return "." + e.text
	}
	return string(e.appendStyled(nil, styleDisplay))
}

// Decimal returns e as messages about values show it: what String returns, except that integers are in decimal. The reference
// prints integers of values so, but reads those of stored sets as floats, which String stands for.
func (e Element) Decimal() string { return Path{e}.Decimal() }

// AppendText appends e to b as [Path.Text] has it.
func (e Element) AppendText(b []byte) []byte { return e.appendStyled(b, styleText) }

// appendStyled appends e as a part of a path, in any style but styleWire.
func (e Element) appendStyled(b []byte, s style) []byte {
	switch e.kind {
	case KindField:
		return appendName(append(b, '.'), e.text, s)
	case KindKey:
		b = append(b, '[')
		for text, first := e.text, true; text != ""; first = false {
			if !first {
				b = append(b, ',')
			}
			var name string
			name, text = cutText(text)
			b = append(appendName(b, name, s), '=')
			b, text = appendEncoded(b, text, s)
		}
		return append(b, ']')
	case KindItem:
		b, _ = appendEncoded(append(b, "[="...), e.text, s)
		return append(b, ']')
	case KindIndex:
		return append(strconv.AppendInt(append(b, '['), int64(decodeIndex(e.text)), 10), ']')
	}
	return append(b, "{{invalid path element}}"...)
}

func (s style) forMessages() bool { return s == styleDisplay || s == styleDecimal }

// appendName appends a name outside of values.
func appendName(b []byte, name string, s style) []byte {
	if s.forMessages() || isPlainName(name) {
		return append(b, name...)
	}
	return appendString(b, name)
}

// isPlainName reports whether name needs no quotes in a path.
func isPlainName(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9':
		case c == '_' || c == '$' || c == '@' || c == '/' || c == '-':
		default:
			return false
		}
	}
	return name != ""
}

// appendEncoded appends the value whose encoding text begins with, and returns what follows it in text.
func appendEncoded(b []byte, text string, s style) (out []byte, rest string) {
	tag, text := text[0], text[1:]
	switch tag {
	case tagNumber:
		n, rest := cutNumber(text)
		return n.append(b, s), rest
	case tagString:
		str, rest := cutText(text)
		switch s {
		case styleWire:
			return appendHTMLString(b, str), rest
		case styleDisplay, styleDecimal:
			return strconv.AppendQuote(b, str), rest
		}
		return appendString(b, str), rest
	case tagBool:
		return strconv.AppendBool(b, text[0] == 1), text[1:]
	case tagList:
		b = append(b, '[')
		for first := true; text[0] != endMark; first = false {
			if !first {
				b = append(b, ',')
			}
			b, text = appendEncoded(b, text, s)
		}
		return append(b, ']'), text[1:]
	case tagObject:
		return appendEncodedObject(b, text, s)
	}
	return append(b, "null"...), text
}

func appendEncodedObject(b []byte, text string, s style) (out []byte, rest string) {
	if !s.forMessages() {
		b = append(b, '{')
	}
	for first := true; text[0] != endMark; first = false {
		if !first && !s.forMessages() {
			b = append(b, ',')
		}
		var name string
		name, text = cutText(text[1:])
		switch s {
		case styleWire:
			b = append(appendHTMLString(b, name), ':')
		case styleText:
			b = append(appendString(b, name), ':')
		default:
			b = append(append(b, name...), '=')
		}
		b, text = appendEncoded(b, text, s)
	}
	if !s.forMessages() {
		b = append(b, '}')
	}
	return b, text[1:]
}

func (n number) append(b []byte, s style) []byte {
	switch {
	case s == styleDisplay && n.isInt:
		return strconv.AppendFloat(b, float64(n.int), 'g', -1, 64)
	case s.forMessages() && !n.isInt:
		return strconv.AppendFloat(b, n.float, 'g', -1, 64)
	case n.isInt:
		return strconv.AppendInt(b, n.int, 10)
	}
	format := byte('f')
	if abs := math.Abs(n.float); abs < 1e-6 || abs >= 1e21 {
		format = 'e'
	}
	return strconv.AppendFloat(b, n.float, format, -1, 64)
}

// appendString appends s as a JSON string that differs from s only where JSON demands it. Bytes that are no UTF-8 stay.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	b = appendEscaped(b, s)
	return append(b, '"')
}

// appendEscaped is appendString without the quotes.
func appendEscaped(b []byte, s string) []byte {
	for {
		i := plainEnd(s, 0)
		b = append(b, s[:i]...)
		if i == len(s) {
			return b
		}
		b = appendEscape(b, rune(s[i]))
		s = s[i+1:]
	}
}

// appendHTMLString appends s as a JSON string in which <, > and & and U+2028 and U+2029 are escaped too, and U+FFFD stands
// for bytes that are no UTF-8.
func appendHTMLString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		r, size := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		if simple[s[i]] || size > 1 && r != '\u2028' && r != '\u2029' {
			i += size
			continue
		}
		b = appendEscape(append(b, s[start:i]...), r)
		i += size
		start = i
	}
	return append(append(b, s[start:]...), '"')
}

// simple tells which bytes are ASCII and stand for themselves in every string that the package writes.
var simple = func() (t [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\' && c != '<' && c != '>' && c != '&'
	}
	return t
}()

func appendEscape(b []byte, r rune) []byte {
	const hex = "0123456789abcdef"
	switch r {
	case '"', '\\':
		return append(b, '\\', byte(r))
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	}
	return append(b, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
}
