package value

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxDigits is how many digits every number has room for in an int64.
const maxDigits = 18

// number reads the number at pos.
func (p *parser) number() (Value, *SyntaxError) {
	start := p.pos
	negative := p.peek() == '-'
	if negative {
		p.pos++
	}
	first := p.pos
	var n int64
	for c := p.peek() - '0'; c <= 9; c = p.peek() - '0' {
		n = n*10 + int64(c) // wraps around only when there are more than maxDigits
		p.pos++
	}
	digits := p.pos - first
	if digits == 0 {
		return Value{}, p.unexpected("a digit")
	}
	if digits > 1 && p.text[first] == '0' {
		p.pos = first + 1
		return Value{}, p.fail("a digit after a leading 0")
	}
	if c := p.peek(); c == '.' || c|0x20 == 'e' || digits > maxDigits {
		return p.longNumber(start)
	}
	if negative {
		n = -n
	}
	return Int(n), nil
}

// longNumber reads what is left of the number that begins at start, after the digits before a point: one that has a
// fraction, an exponent or many digits.
func (p *parser) longNumber(start int) (Value, *SyntaxError) {
	integer := true
	if p.peek() == '.' {
		integer = false
		if p.pos++; !p.digits() {
			return Value{}, p.unexpected("a digit")
		}
	}
	if p.peek()|0x20 == 'e' {
		integer = false
		if p.pos++; p.peek() == '+' || p.peek() == '-' {
			p.pos++
		}
		if !p.digits() {
			return Value{}, p.unexpected("a digit")
		}
	}
	text := string(p.text[start:p.pos])
	if integer {
		if i, err := strconv.ParseInt(text, 10, 64); err == nil {
			return Int(i), nil
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) {
		p.pos = start
		return Value{}, p.fail("number overflows a float64")
	}
	return Float(f), nil
}

// digits passes the digits at pos and reports whether there was one.
func (p *parser) digits() bool {
	start := p.pos
	for p.peek()-'0' <= 9 {
		p.pos++
	}
	return p.pos > start
}

// str reads the string at pos. The result is valid until the next string is read.
func (p *parser) str() ([]byte, *SyntaxError) {
	start := p.pos + 1
	end := plainEnd(p.text, start)
	if end < len(p.text) && p.text[end] == '"' {
		p.pos = end + 1
		return p.text[start:end], nil
	}
	p.scratch = append(p.scratch[:0], p.text[start:end]...)
	p.pos = end
	return p.unescape()
}

// plainEnd returns the index of the first byte of text from i on that is no part of a string as it stands: a quote, a
// backslash, a control character or a part of a character beyond ASCII. It is len(text) when there is none.
//
// It looks at eight bytes at once. In each byte of a word, the highest bit of x-c tells that x < c when both are below 128:
// the subtraction borrows. The borrow may spoil higher bytes, but the lowest one that tells is right.
func plainEnd(text []byte, i int) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(text); i += 8 {
		word := binary.LittleEndian.Uint64(text[i:])
		quote, backslash := word^'"'*ones, word^'\\'*ones // zero where they are
		stop := ((word - ' '*ones) | (quote - ones) | (backslash - ones) | word) & high
		if stop != 0 {
			return i + bits.TrailingZeros64(stop)/8
		}
	}
	for i < len(text) && text[i] >= ' ' && text[i] < utf8.RuneSelf && text[i] != '"' && text[i] != '\\' {
		i++
	}
	return i
}

// unescape reads on at pos in a string whose beginning is in scratch.
func (p *parser) unescape() ([]byte, *SyntaxError) {
	for p.pos < len(p.text) {
		c := p.text[p.pos]
		switch {
		case c == '"':
			p.pos++
			return p.scratch, nil
		case c < ' ':
			return nil, p.fail("control character 0x%02x in a string", c)
		case c == '\\':
			r, err := p.escape()
			if err != nil {
				return nil, err
			}
			p.scratch = utf8.AppendRune(p.scratch, r)
		default:
			end, err := p.runes()
			if err != nil {
				return nil, err
			}
			p.scratch = append(p.scratch, p.text[p.pos:end]...)
			p.pos = end
		}
	}
	return nil, p.fail("unexpected end, want the end of a string")
}

// runes returns where the plain bytes and characters beyond ASCII that begin at pos end.
func (p *parser) runes() (end int, err *SyntaxError) {
	for end = plainEnd(p.text, p.pos); end < len(p.text) && p.text[end] >= utf8.RuneSelf; end = plainEnd(p.text, end) {
		r, size := utf8.DecodeRune(p.text[end:])
		if r == utf8.RuneError && size == 1 {
			p.pos = end
			return 0, p.fail("byte 0x%02x is not UTF-8", p.text[end])
		}
		end += size
	}
	return end, nil
}

// escape reads one escape sequence, or two that are a surrogate pair.
func (p *parser) escape() (rune, *SyntaxError) {
	rest := p.text[p.pos:]
	if len(rest) < 2 {
		return 0, p.fail("unexpected end, want an escape")
	}
	if i := strings.IndexByte(`"\/bfnrt`, rest[1]); i >= 0 {
		p.pos += 2
		return rune("\"\\/\b\f\n\r\t"[i]), nil
	}
	r, ok := hexEscape(rest)
	if !ok {
		return 0, p.fail("invalid escape")
	}
	size := 6
	if r >= 0xd800 && r < 0xe000 {
		low, ok := hexEscape(rest[6:])
		if !ok || r >= 0xdc00 || low < 0xdc00 || low >= 0xe000 {
			return 0, p.fail("escape of half a surrogate pair")
		}
		r, size = (r-0xd800)<<10|(low-0xdc00)+0x10000, 12
	}
	p.pos += size
	return r, nil
}

// hexEscape reads \uXXXX at the start of s.
func hexEscape(s []byte) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range s[2:6] {
		digit := strings.IndexByte("0123456789abcdefABCDEF", c)
		if digit < 0 {
			return 0, false
		}
		if digit >= 16 {
			digit -= 6
		}
		r = r<<4 | rune(digit)
	}
	return r, true
}
