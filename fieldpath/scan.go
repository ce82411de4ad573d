package fieldpath

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/deed-project/deed/value"
)

// SyntaxError says where and why a text is not what it was read as.
type SyntaxError struct {
	What   string // what the text was read as: "fieldsV1", "path element" or "path"
	Offset int    // of the first byte that is wrong, counted from 0
	Reason string // such as "unexpected '}', want a colon"
}

// Error returns the reason with its place.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("invalid %s at byte %d: %s", e.What, e.Offset, e.Reason)
}

// scanner reads JSON from pos on. Unlike [value.Parse] it takes what stored objects may hold: strings with bytes that are no
// UTF-8, which stay, and with escapes of half a surrogate pair, which become U+FFFD.
type scanner struct {
	text   string
	pos    int
	depth  int
	spaced bool // white space was passed
}

func (s *scanner) fail(format string, args ...any) *SyntaxError {
	return &SyntaxError{Offset: s.pos, Reason: fmt.Sprintf(format, args...)}
}

func (s *scanner) unexpected(want string) *SyntaxError {
	if s.pos >= len(s.text) {
		return s.fail("unexpected end, want %s", want)
	}
	r, _ := utf8.DecodeRuneInString(s.text[s.pos:])
	return s.fail("unexpected %q, want %s", r, want)
}

// space passes white space.
func (s *scanner) space() {
	for s.pos < len(s.text) {
		switch s.text[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
			s.spaced = true
		default:
			return
		}
	}
}

// peek returns the next byte, and 0, which starts nothing in JSON, at the end.
func (s *scanner) peek() byte {
	if s.pos < len(s.text) {
		return s.text[s.pos]
	}
	return 0
}

// end fails unless nothing but white space follows.
func (s *scanner) end() *SyntaxError {
	if s.space(); s.pos < len(s.text) {
		return s.unexpected("the end")
	}
	return nil
}

// enter counts the nesting at the bracket that opens a container, and passes it.
func (s *scanner) enter() *SyntaxError {
	if s.depth++; s.depth > value.MaxDepth {
		return s.fail("nested deeper than %d", value.MaxDepth)
	}
	s.pos++
	s.space()
	return nil
}

// more reads what follows a member or item: a comma, after which there is more, or the closing bracket.
func (s *scanner) more(closing byte) (bool, *SyntaxError) {
	if strings.HasPrefix(s.text[s.pos:], `,"`) {
		s.pos++
		return true, nil
	}
	s.space()
	switch s.peek() {
	case ',':
		s.pos++
		s.space()
		return true, nil
	case closing:
		s.pos++
		s.depth--
		return false, nil
	}
	return false, s.unexpected(fmt.Sprintf("a comma or %q", closing))
}

// open passes the bracket that opens a container. When the container is empty it passes the closing bracket too. It reports
// whether there is a member or item.
func (s *scanner) open(closing byte) (bool, *SyntaxError) {
	if err := s.enter(); err != nil {
		return false, err
	}
	if s.peek() != closing {
		return true, nil
	}
	s.pos++
	s.depth--
	return false, nil
}

// name reads the name of a member, and the colon behind it.
func (s *scanner) name() (string, *SyntaxError) {
	if s.peek() != '"' {
		return "", s.unexpected("a name in double quotes")
	}
	name, err := s.str()
	if err != nil {
		return "", err
	}
	return name, s.colon()
}

func (s *scanner) colon() *SyntaxError {
	if strings.HasPrefix(s.text[s.pos:], ":{") {
		s.pos++
		return nil
	}
	if s.space(); s.peek() != ':' {
		return s.unexpected("a colon")
	}
	s.pos++
	s.space()
	return nil
}

func (s *scanner) literal(word string) *SyntaxError {
	if !strings.HasPrefix(s.text[s.pos:], word) {
		return s.unexpected("a value")
	}
	s.pos += len(word)
	return nil
}

// number passes a number and returns its text.
func (s *scanner) number() (text string, integer bool, err *SyntaxError) {
	start := s.pos
	if s.peek() == '-' {
		s.pos++
	}
	if s.peek() == '0' {
		s.pos++
	} else if !s.digits() {
		return "", false, s.unexpected("a digit")
	}
	integer = true
	if s.peek() == '.' {
		integer = false
		if s.pos++; !s.digits() {
			return "", false, s.unexpected("a digit")
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		integer = false
		if s.pos++; s.peek() == '+' || s.peek() == '-' {
			s.pos++
		}
		if !s.digits() {
			return "", false, s.unexpected("a digit")
		}
	}
	return s.text[start:s.pos], integer, nil
}

// digits passes the digits at pos and reports whether there was one.
func (s *scanner) digits() bool {
	start := s.pos
	for c := s.peek(); '0' <= c && c <= '9'; c = s.peek() {
		s.pos++
	}
	return s.pos > start
}

// skip passes a value.
func (s *scanner) skip() *SyntaxError {
	switch s.peek() {
	case '{':
		more, err := s.open('}')
		for more && err == nil {
			if _, err = s.name(); err == nil {
				if err = s.skip(); err == nil {
					more, err = s.more('}')
				}
			}
		}
		return err
	case '[':
		more, err := s.open(']')
		for more && err == nil {
			if err = s.skip(); err == nil {
				more, err = s.more(']')
			}
		}
		return err
	case '"':
		_, err := s.str()
		return err
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return s.skipNumber()
	}
	_, err := s.constant(nil)
	return err
}

// skipNumber passes a number. With an exponent it must be one that a float64 holds; the reference has it so.
func (s *scanner) skipNumber() *SyntaxError {
	start := s.pos
	text, _, err := s.number()
	if err != nil || !strings.ContainsAny(text, "eE") {
		return err
	}
	if _, err := strconv.ParseFloat(text, 64); err != nil {
		s.pos = start
		return s.fail("number overflows a float64")
	}
	return nil
}

// constant appends the encoding of the literal name at pos.
func (s *scanner) constant(b []byte) ([]byte, *SyntaxError) {
	switch s.peek() {
	case 't':
		return appendBool(b, true), s.literal("true")
	case 'f':
		return appendBool(b, false), s.literal("false")
	case 'n':
		return append(b, tagNull), s.literal("null")
	}
	return b, s.unexpected("a value")
}

// str reads the string at pos. A string without escapes is a part of the text.
func (s *scanner) str() (string, *SyntaxError) {
	start := s.pos + 1
	s.pos = plainEnd(s.text, start)
	if s.peek() == '"' {
		s.pos++
		return s.text[start : s.pos-1], nil
	}
	b := []byte(s.text[start:s.pos])
	for s.peek() == '\\' {
		var err *SyntaxError
		if b, err = s.escape(b); err != nil {
			return "", err
		}
		end := plainEnd(s.text, s.pos)
		b = append(b, s.text[s.pos:end]...)
		s.pos = end
	}
	if s.peek() != '"' {
		return "", s.unexpected("the end of a string")
	}
	s.pos++
	return string(b), nil
}

// plainEnd returns the index, from i on, of the first quote, backslash or control character of s, or len(s).
func plainEnd(s string, i int) int {
	for ; i+8 <= len(s); i += 8 {
		if found := unplain(word(s, i)); found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	if len(s) >= 8 && i < len(s) { // what is left of the last eight bytes; the zeros behind it end the search
		left := word(s, len(s)-8) >> (8 * uint(i+8-len(s)))
		return i + bits.TrailingZeros64(unplain(left))/8
	}
	for i < len(s) && s[i] >= ' ' && s[i] != '"' && s[i] != '\\' {
		i++
	}
	return i
}

// word returns the eight bytes of s from i on, the first one lowest.
func word(s string, i int) uint64 {
	s = s[i : i+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// unplain finds quotes, backslashes and control characters in the eight bytes of w: the lowest byte whose high bit is set in
// the result is the first one. Bytes above it may be set without being such.
func unplain(w uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	quote, slash := w^'"'*ones, w^'\\'*ones
	return ((w-' '*ones)&^w | (quote-ones)&^quote | (slash-ones)&^slash) & highs
}

// escape appends what the escape at pos means. A surrogate that has no partner becomes U+FFFD, and takes with it the \uXXXX
// behind it: that one is not tried as the first half of a pair.
func (s *scanner) escape(b []byte) ([]byte, *SyntaxError) {
	rest := s.text[s.pos:]
	if len(rest) < 2 {
		return b, s.unexpected("an escape")
	}
	if i := strings.IndexByte(`"\/bfnrt`, rest[1]); i >= 0 {
		s.pos += 2
		return append(b, "\"\\/\b\f\n\r\t"[i]), nil
	}
	r, ok := hexEscape(rest)
	if !ok {
		return b, s.fail("invalid escape")
	}
	s.pos += 6
	if !utf16.IsSurrogate(r) {
		return utf8.AppendRune(b, r), nil
	}
	second, ok := hexEscape(rest[6:])
	if !ok {
		return utf8.AppendRune(b, utf8.RuneError), nil
	}
	s.pos += 6
	if pair := utf16.DecodeRune(r, second); pair != utf8.RuneError {
		return utf8.AppendRune(b, pair), nil
	}
	return utf8.AppendRune(utf8.AppendRune(b, utf8.RuneError), second), nil
}

// hexEscape reads \uXXXX at the start of s.
func hexEscape(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(s[2:6], 16, 16)
	return rune(n), err == nil
}
