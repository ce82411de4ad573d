package jsontext

import (
	"math/bits"
	"unicode/utf8"
)

// The searches of this file examine eight bytes at once. In each byte of a word, the highest bit of x-c is set if x < c and both
// are below 128: the subtraction borrows. For c = 1 the bit shows that x is 0, as w^'"' is for a quote. The borrow may spoil
// higher bytes, but the lowest set byte is right:
//
//	w                  61 62 22 63 …    a b " c …
//	w ^ '"'            43 40 00 41 …
//	… - 1              42 3f ff 3f …    the borrow from 00 spoils the next byte
//	… & 80             00 00 80 00 …    the lowest byte that is not 0 is the quote's
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// Word returns the eight bytes of s from i on, the first one lowest.
func Word(s string, i int) uint64 {
	s = s[i : i+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// FirstOf returns the place of the first byte in a result of the functions below that is not 0.
func FirstOf(found uint64) int { return bits.TrailingZeros64(found) / 8 }

// unplain finds quotes, backslashes and control characters in the eight bytes of w: [FirstOf] returns the place of the first one.
// The result is 0 if there is none.
func unplain(w uint64) uint64 {
	quote, slash := w^'"'*ones, w^'\\'*ones
	return ((w-' '*ones)&^w | (quote-ones)&^quote | (slash-ones)&^slash) & highs
}

// Special finds the bytes that unplain finds, and non-ASCII bytes.
func Special(w uint64) uint64 {
	quote, slash := w^'"'*ones, w^'\\'*ones
	return ((w - ' '*ones) | (quote - ones) | (slash - ones) | w) & highs
}

// Unsimple finds the bytes that are not [Simple] in the eight bytes of w, as unplain does. '<' and '>' differ in one bit only. '"' and '&'
// also differ in one bit only.
func Unsimple(w uint64) uint64 {
	angle, quote, slash := w&^(2*ones)^'<'*ones, w&^(4*ones)^'"'*ones, w^'\\'*ones
	return ((w - ' '*ones) | (angle - ones) | (quote - ones) | (slash - ones) | w) & highs
}

// PlainEnd returns the index, from i on, of the first quote, backslash or control character of s, or len(s).
func PlainEnd(s string, i int) int {
	for ; i+8 <= len(s); i += 8 {
		if found := unplain(Word(s, i)); found != 0 {
			return i + FirstOf(found)
		}
	}
	if len(s) >= 8 && i < len(s) { // the rest of the last eight bytes; zeros after it end the search
		left := Word(s, len(s)-8) >> (8 * uint(i+8-len(s)))
		return i + FirstOf(unplain(left))
	}
	for i < len(s) && s[i] >= ' ' && s[i] != '"' && s[i] != '\\' {
		i++
	}
	return i
}

// asciiEnd works like PlainEnd, but also stops at non-ASCII bytes.
func asciiEnd(s string, i int) int {
	for ; i+8 <= len(s); i += 8 {
		if found := Special(Word(s, i)); found != 0 {
			return i + FirstOf(found)
		}
	}
	for i < len(s) && s[i] >= ' ' && s[i] < utf8.RuneSelf && s[i] != '"' && s[i] != '\\' {
		i++
	}
	return i
}

// simpleEnd returns the index, from i on, of the first byte of s that is not [Simple], or len(s).
func simpleEnd(s string, i int) int {
	for ; i+8 <= len(s); i += 8 {
		if found := Unsimple(Word(s, i)); found != 0 {
			return i + FirstOf(found)
		}
	}
	for i < len(s) && Simple[s[i]] {
		i++
	}
	return i
}

// IsPlain reports whether a string with the content s equals its JSON text between the quotes, and has only ASCII.
func IsPlain(s string) bool { return asciiEnd(s, 0) == len(s) }
