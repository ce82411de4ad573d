package jsontext

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxDepth is the largest depth of nested lists and objects.
const MaxDepth = 10000

// Scanner reads JSON text from a position on. It is the part of a parser that knows the grammar. Each method passes a token at
// the position, or returns an error that names the unexpected text.
//
// Invariants: a parser may rely on the first, and must keep the second.
//
//	0 <= Pos <= len(Text)
//	Depth = number of open brackets before Pos
type Scanner struct {
	Text   string
	Pos    int
	Depth  int
	Mode   Mode // the accepted strings
	Chunk  int  // in mode Stored, the size of json-iterator's buffer; 0 means all text
	Spaced bool // white space was passed
}

// Error reports the place and reason of a syntax error.
type Error struct {
	Offset int    // offset of the first wrong byte, counted from 0
	Reason string // such as "unexpected '}', want a colon"
	Trail  Trail
}

// Within adds one step to the front of the trail of an error on its way to the caller.
func (e *Error) Within(step string) *Error {
	e.Trail.Add(step)
	return e
}

// Fail returns an error about the text at the position.
func (s *Scanner) Fail(format string, args ...any) *Error {
	return &Error{Offset: s.Pos, Reason: fmt.Sprintf(format, args...)}
}

// Unexpected returns the error for an unexpected next character. want describes the expected text.
func (s *Scanner) Unexpected(want string) *Error {
	if s.Pos >= len(s.Text) {
		return s.Fail("unexpected end, want %s", want)
	}
	r, size := utf8.DecodeRuneInString(s.Text[s.Pos:])
	if r == utf8.RuneError && size == 1 {
		return s.Fail("byte 0x%02x is not UTF-8", s.Text[s.Pos])
	}
	return s.Fail("unexpected %q, want %s", r, want)
}

// Space passes white space.
func (s *Scanner) Space() {
	if s.Pos < len(s.Text) && s.Text[s.Pos] <= ' ' {
		s.passSpace()
	}
}

func (s *Scanner) passSpace() {
	for s.Pos < len(s.Text) {
		switch s.Text[s.Pos] {
		case ' ', '\t', '\n', '\r':
			s.Pos++
			s.Spaced = true
		default:
			return
		}
	}
}

// Peek returns the next byte, or 0 at the end. No JSON token begins with 0.
func (s *Scanner) Peek() byte {
	if s.Pos < len(s.Text) {
		return s.Text[s.Pos]
	}
	return 0
}

// End passes white space, and fails unless the text ends there.
func (s *Scanner) End() *Error {
	if s.Space(); s.Pos < len(s.Text) {
		return s.Fail("data after the document")
	}
	return nil
}

// Literal passes word, one of true, false and null.
func (s *Scanner) Literal(word string) *Error {
	if !strings.HasPrefix(s.Text[s.Pos:], word) {
		return s.Unexpected("a value")
	}
	s.Pos += len(word)
	return nil
}

// Open passes the opening bracket of a container, and reports whether there is a member or item. If there is none, it also passes
// the closing bracket.
func (s *Scanner) Open(closing byte) (more bool, err *Error) {
	if s.Depth == MaxDepth {
		return false, s.Fail("nested deeper than %d", MaxDepth)
	}
	s.Pos++
	s.Space()
	if s.Peek() == closing {
		s.Pos++
		return false, nil
	}
	s.Depth++
	return true, nil
}

// More passes the comma after a member or item, and reports true. If there is a closing bracket instead, it passes the bracket
// and reports false.
func (s *Scanner) More(closing byte) (more bool, err *Error) {
	if s.packed(',') {
		s.Pos++
		return true, nil
	}
	s.Space()
	switch s.Peek() {
	case ',':
		s.Pos++
		s.Space()
		return true, nil
	case closing:
		s.Pos++
		s.Depth--
		return false, nil
	}
	return false, s.Unexpected(fmt.Sprintf("a comma or %q", closing))
}

// NoName returns the error for a missing name of a member.
func (s *Scanner) NoName() *Error { return s.Unexpected("a name in double quotes") }

// Colon passes the colon after the name of a member, and the white space around it.
func (s *Scanner) Colon() *Error {
	if s.packed(':') {
		s.Pos++
		return nil
	}
	if s.Space(); s.Peek() != ':' {
		return s.Unexpected("a colon")
	}
	s.Pos++
	s.Space()
	return nil
}

// packed reports whether c is at the position, with no white space after it.
func (s *Scanner) packed(c byte) bool {
	return s.Pos+1 < len(s.Text) && s.Text[s.Pos] == c && s.Text[s.Pos+1] > ' '
}
