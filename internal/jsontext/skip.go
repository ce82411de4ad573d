package jsontext

import (
	"strconv"
	"strings"
)

// Skip passes the value at the position. The value must be valid JSON, except that names may be duplicate. A number with an
// exponent must fit a float64, as json-iterator demands. In mode [Skipping] nothing is checked.
//
// Cost: linear in the length of the value.
func (s *Scanner) Skip() *Error {
	if s.Mode == Skipping {
		return s.skimValue()
	}
	switch s.Peek() {
	case '{':
		return s.skipObject()
	case '[':
		return s.skipList()
	case '"':
		return s.SkipString()
	case 't':
		return s.Literal("true")
	case 'f':
		return s.Literal("false")
	case 'n':
		return s.Literal("null")
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return s.skipNumber()
	}
	return s.Unexpected("a value")
}

func (s *Scanner) skipObject() *Error {
	more, err := s.Open('}')
	for first := true; more && err == nil; first = false {
		if err = s.skipName(first); err == nil {
			if err = s.Skip(); err == nil {
				more, err = s.More('}')
			}
		}
	}
	return err
}

func (s *Scanner) skipName(first bool) *Error {
	if s.Peek() != '"' {
		if !first && s.NullName() {
			return s.Colon()
		}
		return s.NoName()
	}
	if err := s.SkipString(); err != nil {
		return err
	}
	return s.Colon()
}

func (s *Scanner) skipList() *Error {
	more, err := s.Open(']')
	for more && err == nil {
		if err = s.Skip(); err == nil {
			more, err = s.More(']')
		}
	}
	return err
}

func (s *Scanner) skipNumber() *Error {
	start := s.Pos
	text, _, err := s.numberText()
	if err != nil || !strings.ContainsAny(text, "eE") {
		return err
	}
	if _, err := strconv.ParseFloat(text, 64); err != nil {
		s.Pos = start
		return s.Fail("number overflows a float64")
	}
	return nil
}
