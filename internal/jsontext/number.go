package jsontext

import "strconv"

// maxDigits is the number of digits that always fit an int64.
const maxDigits = 18

// Integer passes the number at the position if it is an integer of at most 18 digits, as most numbers are, and returns it.
// Otherwise it passes nothing.
func (s *Scanner) Integer() (i int64, ok bool) {
	pos, text := s.Pos, s.Text
	negative := pos < len(text) && text[pos] == '-'
	if negative {
		pos++
	}
	first := pos
	for ; pos < len(text) && text[pos]-'0' <= 9; pos++ {
		i = i*10 + int64(text[pos]-'0') // wraps around only above maxDigits
	}
	digits := pos - first
	if digits == 0 || digits > maxDigits || digits > 1 && text[first] == '0' {
		return 0, false
	}
	if pos < len(text) && (text[pos] == '.' || text[pos]|0x20 == 'e') {
		return 0, false
	}
	if s.Pos = pos; negative {
		i = -i
	}
	return i, true
}

// Number passes the number at the position and returns it: as i, if it has neither fraction nor exponent and fits an int64, and
// otherwise as f. A number that does not fit a float64 is an error.
func (s *Scanner) Number() (i int64, f float64, integer bool, err *Error) {
	if i, ok := s.Integer(); ok {
		return i, 0, true, nil
	}
	start := s.Pos
	text, integer, err := s.numberText()
	if err != nil {
		return 0, 0, false, err
	}
	if integer {
		if i, err := strconv.ParseInt(text, 10, 64); err == nil {
			return i, 0, true, nil
		}
	}
	f, overflow := strconv.ParseFloat(text, 64)
	if overflow != nil {
		s.Pos = start
		return 0, 0, false, s.Fail("number overflows a float64")
	}
	return 0, f, false, nil
}

// numberText passes the number at the position and returns its text. It reports whether the text has neither fraction nor
// exponent.
func (s *Scanner) numberText() (text string, integer bool, err *Error) {
	start := s.Pos
	if s.Peek() == '-' {
		s.Pos++
	}
	if s.Peek() == '0' {
		if s.Pos++; s.Peek()-'0' <= 9 {
			return "", false, s.Fail("a digit after a leading 0")
		}
	} else if !s.Digits() {
		return "", false, s.Unexpected("a digit")
	}
	integer = true
	if s.Peek() == '.' {
		integer = false
		if s.Pos++; !s.Digits() {
			return "", false, s.Unexpected("a digit")
		}
	}
	if s.Peek()|0x20 == 'e' {
		integer = false
		if s.Pos++; s.Peek() == '+' || s.Peek() == '-' {
			s.Pos++
		}
		if !s.Digits() {
			return "", false, s.Unexpected("a digit")
		}
	}
	return s.Text[start:s.Pos], integer, nil
}

// Digits passes the digits at the position, and reports whether there was one.
func (s *Scanner) Digits() bool {
	start := s.Pos
	for s.Peek()-'0' <= 9 {
		s.Pos++
	}
	return s.Pos > start
}

// Widen returns the float64 that encoding/json prints for f: the shortest decimal that identifies f, not the exact binary
// fraction. A number that JSON cannot express stays as it is.
func Widen(f float32) float64 {
	wide, err := strconv.ParseFloat(strconv.FormatFloat(float64(f), 'g', -1, 32), 64)
	if err != nil {
		return float64(f)
	}
	return wide
}
