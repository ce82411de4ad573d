package fieldpath

import (
	"encoding/binary"
	"math"
	"strings"

	"github.com/deed-project/deed/value"
)

// Elements hold values in an encoding. Encodings sort bytewise as [value.Compare] sorts values.
// Equal values have equal encodings, and no encoding is a prefix of another:
//
//	number  tagNumber, the largest float64 f that is not above it (8 bytes), the number minus f
//	        (2 bytes, for integers)
//	string  tagString, the bytes with 00 as 00 FF, then 00 01
//	bool    tagBool, 0 or 1
//	list    tagList, the encodings of its items, 00
//	object  tagObject, for each member in name order 01, its name as a string without tag, and its
//	        value; then 00
//	null    tagNull
//
// The end mark 00 is below every tag and below 01. A list or object therefore sorts before those
// that begin with it and go on.
const (
	tagNumber = 0x10 + iota
	tagString
	tagBool
	tagList
	tagObject
	tagNull

	endMark    = 0x00
	memberMark = 0x01
)

// appendKey appends the text of the key with these fields, which must be sorted.
func appendKey(b []byte, fields []KeyField) []byte {
	for i := range fields {
		b = appendText(b, fields[i].Name)
		b = appendValue(b, fields[i].Value)
	}
	return b
}

// appendValue appends the encoding of v. The absent value counts as null.
func appendValue(b []byte, v value.Value) []byte {
	switch v.Kind() {
	case value.KindInt:
		return appendInt(b, v.Int())
	case value.KindFloat:
		return appendFloat(b, v.Float())
	case value.KindString:
		return appendText(append(b, tagString), v.Str())
	case value.KindBool:
		return appendBool(b, v.Bool())
	case value.KindList:
		b = append(b, tagList)
		for i := range v.Len() {
			b = appendValue(b, v.Item(i))
		}
		return append(b, endMark)
	case value.KindObject:
		b = append(b, tagObject)
		for i := range v.Len() {
			member := v.Member(i)
			b = appendText(append(b, memberMark), member.Name)
			b = appendValue(b, member.Value)
		}
		return append(b, endMark)
	}
	return append(b, tagNull)
}

// appendText appends the encoding of s. No encoding is a prefix of another, and encodings sort as
// the strings do:
//
//	"a"      61 00 01
//	"a\x00"  61 00 FF 00 01      after "a", because FF is above 01
//	"b"      62 00 01
func appendText(b []byte, s string) []byte {
	// A zero byte becomes 00 FF, so that 00 01 occurs only at the end.
	for i := strings.IndexByte(s, 0); i >= 0; i = strings.IndexByte(s, 0) {
		b = append(append(b, s[:i]...), 0, 0xff)
		s = s[i+1:]
	}
	return appendPlain(b, s)
}

// appendPlain is appendText for a string without zero bytes.
func appendPlain(b []byte, s string) []byte { return append(append(b, s...), 0, 1) }

// appendBool appends the encoding of v: false sorts before true.
func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, tagBool, 1)
	}
	return append(b, tagBool, 0)
}

// appendInt appends the encoding of i: the largest float64 that is not above it, and the rest. Up
// to 2^53 the rest is 0. Above 2^53, neighbours share a float:
//
//	1<<53 + 1    the float 1<<53, rest 1
//	1<<53 + 2    the float 1<<53 + 2, rest 0
func appendInt(b []byte, i int64) []byte {
	f := float64(i)
	if f >= 1<<63 || int64(f) > i {
		f = math.Nextafter(f, math.Inf(-1))
	}
	return appendNumber(b, f, uint16(i-int64(f)))
}

// appendFloat appends the encoding of f. If f equals an integer, they have the same encoding.
func appendFloat(b []byte, f float64) []byte {
	if f == 0 {
		f = 0 // -0 is 0
	}
	return appendNumber(b, f, 0)
}

// appendNumber appends f as eight bytes that sort as floats do, and then above, the number minus f.
// The sign bit of a number that is not negative is set. All bits of a negative number are inverted,
// so that numbers farther from zero come first.
func appendNumber(b []byte, f float64, above uint16) []byte {
	// The bits of floats that are not negative sort as the floats do.
	bits := math.Float64bits(f)
	if bits>>63 == 0 {
		bits ^= 1 << 63
	} else {
		bits = ^bits
	}
	b = binary.BigEndian.AppendUint64(append(b, tagNumber), bits)
	return binary.BigEndian.AppendUint16(b, above)
}

// appendIndex appends the text of the index i.
func appendIndex(b []byte, i int) []byte {
	return binary.BigEndian.AppendUint64(b, uint64(i)^1<<63)
}

// number is a number as cutNumber returns it: an int if it is integral and an int64 holds it, else
// a float.
type number struct {
	float float64
	int   int64
	isInt bool
}

// cutNumber decodes the number at the start of text, after its tag. rest is the text after it.
func cutNumber(text string) (n number, rest string) {
	bits := bigEndian(text)
	if bits>>63 == 1 {
		bits ^= 1 << 63
	} else {
		bits = ^bits
	}
	f := math.Float64frombits(bits)
	if -1<<63 <= f && f < 1<<63 && f == math.Trunc(f) {
		n = number{int: int64(f) + int64(text[8])<<8 + int64(text[9]), isInt: true}
	} else {
		n = number{float: f}
	}
	return n, text[10:]
}

// bigEndian returns the big-endian number in the first eight bytes of s.
func bigEndian(s string) uint64 {
	_ = s[7]
	return uint64(s[7]) | uint64(s[6])<<8 | uint64(s[5])<<16 | uint64(s[4])<<24 |
		uint64(s[3])<<32 | uint64(s[2])<<40 | uint64(s[1])<<48 | uint64(s[0])<<56
}

// decodeIndex returns the index that has this text.
func decodeIndex(text string) int { return int(int64(bigEndian(text) ^ 1<<63)) }

// cutText decodes the string at the start of text, after its tag. rest is the text after it. The
// string is a part of text unless it has a zero byte.
func cutText(text string) (s, rest string) {
	i := strings.IndexByte(text, 0)
	if text[i+1] == 1 {
		return text[:i], text[i+2:]
	}
	var b strings.Builder
	for text[i+1] != 1 {
		b.WriteString(text[:i+1])
		text = text[i+2:]
		i = strings.IndexByte(text, 0)
	}
	b.WriteString(text[:i])
	return b.String(), text[i+2:]
}

// cutValue decodes the value at the start of text. rest is the text after it.
func cutValue(text string) (v value.Value, rest string) {
	tag, text := text[0], text[1:]
	switch tag {
	case tagNumber:
		n, rest := cutNumber(text)
		if n.isInt {
			return value.Int(n.int), rest
		}
		return value.Float(n.float), rest
	case tagString:
		s, rest := cutText(text)
		return value.String(s), rest
	case tagBool:
		return value.Bool(text[0] == 1), text[1:]
	case tagList:
		return cutList(text)
	case tagObject:
		return cutObject(text)
	}
	return value.Null(), text
}

// cutList is cutValue for a list, after its tag.
func cutList(text string) (v value.Value, rest string) {
	var items []value.Value
	for text[0] != endMark {
		var item value.Value
		item, text = cutValue(text)
		items = append(items, item)
	}
	return value.List(items...), text[1:]
}

// cutObject is cutValue for an object, after its tag.
func cutObject(text string) (v value.Value, rest string) {
	var members []value.Member
	for text[0] != endMark {
		var m value.Member
		m.Name, text = cutText(text[1:])
		m.Value, text = cutValue(text)
		members = append(members, m)
	}
	return value.Object(members...), text[1:]
}
