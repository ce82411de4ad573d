package jsontext

import (
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// PlainString passes the string at the position and returns its content, a part of Text, if the content equals the text between
// the quotes. The string then has no escape and, unless the mode is Stored, only ASCII. Otherwise PlainString passes nothing.
func (s *Scanner) PlainString() (text string, ok bool) {
	start := s.Pos + 1
	var end int
	if s.Mode == Stored {
		end = PlainEnd(s.Text, start)
	} else {
		end = asciiEnd(s.Text, start)
	}
	if end == len(s.Text) || s.Text[end] != '"' {
		return "", false
	}
	s.Pos = end + 1
	return s.Text[start:end], true
}

// AppendString passes the string at the position and appends its content to b.
func (s *Scanner) AppendString(b []byte) ([]byte, *Error) {
	quote, escaped := s.Pos, false
	for s.Pos++; ; {
		end := s.plainEnd(s.Pos)
		b = append(b, s.Text[s.Pos:end]...)
		s.Pos = end
		switch c := s.Peek(); {
		case c == '"':
			s.Pos++
			return b, nil
		case c == '\\':
			r, second, err := s.escape()
			if err != nil {
				return b, err
			}
			b = utf8.AppendRune(b, r)
			if second >= 0 {
				b = utf8.AppendRune(b, second)
			}
			escaped = true
		case c >= utf8.RuneSelf:
			valid, err := s.beyondASCII()
			if err != nil {
				return b, err
			}
			if b = append(b, s.Text[end:s.Pos]...); !valid {
				b = utf8.AppendRune(b[:len(b)-1], utf8.RuneError)
			}
		case s.takesControl(quote, escaped):
			b = append(b, c)
			s.Pos++
		default:
			return b, s.stringError()
		}
	}
}

// SkipString passes the string at the position.
func (s *Scanner) SkipString() *Error {
	if end := s.plainEnd(s.Pos + 1); end < len(s.Text) && s.Text[end] == '"' {
		s.Pos = end + 1
		return nil
	}
	quote, escaped := s.Pos, false
	for s.Pos++; ; {
		s.Pos = s.plainEnd(s.Pos)
		switch c := s.Peek(); {
		case c == '"':
			s.Pos++
			return nil
		case c == '\\':
			if _, _, err := s.escape(); err != nil {
				return err
			}
			escaped = true
		case c >= utf8.RuneSelf:
			if _, err := s.beyondASCII(); err != nil {
				return err
			}
		case s.takesControl(quote, escaped):
			s.Pos++
		default:
			return s.stringError()
		}
	}
}

// stringError returns the error of the string that continues at the position.
func (s *Scanner) stringError() *Error {
	if s.Pos >= len(s.Text) {
		return s.Unexpected("the end of a string")
	}
	return s.Fail("control character 0x%02x in a string", s.Text[s.Pos])
}

// takesControl reports whether the mode accepts a control character at the position. The string begins at quote; escaped says
// whether it has an escape already.
func (s *Scanner) takesControl(quote int, escaped bool) bool {
	if s.Mode != Stored || s.Pos >= len(s.Text) {
		return false
	}
	return escaped || s.Chunk > 0 && s.Pos/s.Chunk > quote/s.Chunk
}

// beyondASCII passes the non-ASCII characters at the position, up to the first byte that is not UTF-8. In mode Strict that byte
// is an error. In other modes it passes the byte too and returns false.
func (s *Scanner) beyondASCII() (valid bool, err *Error) {
	for s.Peek() >= utf8.RuneSelf {
		r, size := utf8.DecodeRuneInString(s.Text[s.Pos:])
		if r == utf8.RuneError && size == 1 {
			if s.Mode == Strict {
				return false, s.Fail("byte 0x%02x is not UTF-8", s.Text[s.Pos])
			}
			s.Pos++
			return false, nil
		}
		s.Pos += size
	}
	return true, nil
}

// escape passes an escape, or two that are a surrogate pair or, in mode Stored, could be one. It returns the resulting character,
// and a second one, or -1 if there is none.
func (s *Scanner) escape() (r, second rune, err *Error) {
	rest := s.Text[s.Pos:]
	if len(rest) < 2 {
		return 0, -1, s.Fail("unexpected end, want an escape")
	}
	if i := strings.IndexByte(`"\/bfnrt`, rest[1]); i >= 0 {
		s.Pos += 2
		return rune("\"\\/\b\f\n\r\t"[i]), -1, nil
	}
	r, ok := hexEscape(rest)
	if !ok {
		return 0, -1, s.Fail("invalid escape")
	}
	if !utf16.IsSurrogate(r) {
		s.Pos += 6
		return r, -1, nil
	}
	low, ok := hexEscape(rest[6:])
	if pair := utf16.DecodeRune(r, low); ok && pair != utf8.RuneError {
		s.Pos += 12
		return pair, -1, nil
	}
	switch {
	case s.Mode == Strict:
		return 0, -1, s.Fail("escape of half a surrogate pair")
	case s.Mode == Stored && ok:
		s.Pos += 12
		return utf8.RuneError, low, nil // a low that is a surrogate is appended as U+FFFD
	}
	s.Pos += 6
	return utf8.RuneError, -1, nil
}

// hexEscape reads \uXXXX at the start of s.
func hexEscape(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(s[2:6], 16, 16)
	return rune(n), err == nil
}

// plainEnd is [PlainEnd] or [asciiEnd], depending on the mode.
func (s *Scanner) plainEnd(i int) int {
	if s.Mode == Stored {
		return PlainEnd(s.Text, i)
	}
	return asciiEnd(s.Text, i)
}

// Both searches examine eight bytes at once. In each byte of a word, the highest bit of x-c is set if x < c and both are below
// 128: the subtraction borrows. For c = 1 the bit shows that x is 0, as w^'"' is for a quote. The borrow may spoil higher bytes,
// but the lowest set byte is right:
//
//	w                  61 62 22 63 …    a b " c …
//	w ^ '"'            43 40 00 41 …
//	… - 1              42 3f ff 3f …    the borrow from 00 spoils the next byte
//	… & 80             00 00 80 00 …    the lowest byte that is not 0 is the quote's
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// PlainEnd returns the index, from i on, of the first quote, backslash or control character of s, or len(s).
func PlainEnd(s string, i int) int {
	for ; i+8 <= len(s); i += 8 {
		if found := unplain(Word(s, i)); found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	if len(s) >= 8 && i < len(s) { // the rest of the last eight bytes; zeros after it end the search
		left := Word(s, len(s)-8) >> (8 * uint(i+8-len(s)))
		return i + bits.TrailingZeros64(unplain(left))/8
	}
	for i < len(s) && s[i] >= ' ' && s[i] != '"' && s[i] != '\\' {
		i++
	}
	return i
}

// unplain finds quotes, backslashes and control characters in the eight bytes of w: the first one is at the lowest byte of the
// result whose high bit is set. Higher bytes may be set by mistake.
func unplain(w uint64) uint64 {
	quote, slash := w^'"'*ones, w^'\\'*ones
	return ((w-' '*ones)&^w | (quote-ones)&^quote | (slash-ones)&^slash) & highs
}

// asciiEnd is PlainEnd, but also stops at non-ASCII bytes.
func asciiEnd(s string, i int) int {
	for ; i+8 <= len(s); i += 8 {
		w := Word(s, i)
		quote, slash := w^'"'*ones, w^'\\'*ones
		if found := ((w - ' '*ones) | (quote - ones) | (slash - ones) | w) & highs; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for i < len(s) && s[i] >= ' ' && s[i] < utf8.RuneSelf && s[i] != '"' && s[i] != '\\' {
		i++
	}
	return i
}

// Word returns the eight bytes of s from i on, the first one lowest.
func Word(s string, i int) uint64 {
	s = s[i : i+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
