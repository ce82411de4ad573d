package fieldpath

import (
	"math"
	"strconv"

	"github.com/deed-project/deed/internal/jsontext"
)

// Printing elements and paths. An element holds only its encoding. Each style prints names and
// values from the encoding, without making a document. A key, and an item that is an object:
//
//	wire     k:{"n":"a\u003cb","p":1000000}   v:{"x":1,"y":2}
//	text     [n="a<b",p=1000000]              [={"x":1,"y":2}]
//	display  [n="a<b",p=1e+06]                [=x=1y=2]
//	decimal  [n="a<b",p=1000000]              [=x=1y=2]

// style is one of the ways in which elements are written.
type style uint8

const (
	styleWire    style = iota // in fieldsV1: k:{"name":"a\u003cb"}
	styleText                 // in Path.Text: [name="a<b"]
	styleDisplay              // in String: the same, but numbers and strings as Go prints them
	styleDecimal              // in Decimal: the same as in String, but integers in decimal
)

// appendWire appends e to b as fieldsV1 names it: f:name, k:{"port":80}, v:"item" or i:0. The zero
// Element appends nothing.
//
// Each number has one spelling. Integers are in decimal. Other numbers have the fewest digits that
// identify them, with an exponent below 1e-06 and from 1e+21.
func (e Element) appendWire(b []byte) []byte {
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
			b = append(jsontext.AppendString(b, name, jsontext.Bare), ':')
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

// Wire returns e as fieldsV1 names it: f:name, k:{"port":80}, v:"item" or i:0.
func (e Element) Wire() string {
	if e.kind == KindField {
		return "f:" + e.text
	}
	return string(e.appendWire(nil))
}

// String returns e as messages show it: .name, [name="web",port=80], [="item"] or [3]. Names are
// not quoted, strings are quoted as by %q, and numbers are printed as a float64 is by %v. Different
// elements may therefore look alike. [Path.Text] returns different texts for them.
func (e Element) String() string {
	if e.kind == KindField {
		return "." + e.text
	}
	return string(e.appendStyled(nil, styleDisplay))
}

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

// forMessages reports whether s prints as Go does, rather than as JSON.
func (s style) forMessages() bool { return s == styleDisplay || s == styleDecimal }

// appendName appends a name outside of values.
func appendName(b []byte, name string, s style) []byte {
	if s.forMessages() || isPlainName(name) {
		return append(b, name...)
	}
	return jsontext.AppendString(b, name, jsontext.Bare)
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

// appendEncoded appends the value that is encoded at the start of text. rest is the text after it.
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
			return jsontext.AppendString(b, str, jsontext.HTML), rest
		case styleDisplay, styleDecimal:
			return strconv.AppendQuote(b, str), rest
		}
		return jsontext.AppendString(b, str, jsontext.Bare), rest
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

// appendEncodedObject is appendEncoded for an object, after its tag. Messages show its members
// without braces and commas: a=1b=2.
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
			b = append(jsontext.AppendString(b, name, jsontext.HTML), ':')
		case styleText:
			b = append(jsontext.AppendString(b, name, jsontext.Bare), ':')
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

// append appends n in style s.
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
