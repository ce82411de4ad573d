package jsontext

import "strings"

// Skim returns a scanner in mode [Skipping] that reads text without copying it. text must not change while the scanner, or a
// string that was cut from its Text, is in use.
func Skim(text []byte) Scanner { return Scanner{Text: Lend(text), Mode: Skipping} }

// Token passes white space and the token after it. It returns the first byte of the token, which identifies its kind, and the
// place where the token begins. At the end of the text, first is 0. A token is a bracket, a comma, a colon, a string, or a word
// up to white space or the next token of another kind. Token checks nothing, whatever the mode; a string without an end ends with
// the text.
func (s *Scanner) Token() (first byte, start int) {
	s.Space()
	if start = s.Pos; start == len(s.Text) {
		return 0, start
	}
	first = s.Text[start]
	switch {
	case first == '"':
		s.skim()
	case ends[first]:
		s.Pos++
	default:
		for s.Pos++; s.Pos < len(s.Text) && !ends[s.Text[s.Pos]]; {
			s.Pos++
		}
	}
	return first, start
}

// ends has the bytes that end a word.
var ends = [256]bool{' ': true, '\t': true, '\r': true, '\n': true, ',': true, ':': true, '{': true, '}': true, '[': true, ']': true, '"': true}

// skim passes the string at the position without checking it: up to the first quote that no backslash escapes. It returns false
// at the end of the text.
func (s *Scanner) skim() bool {
	i := s.Pos + 1
	for i < len(s.Text) {
		if i = PlainEnd(s.Text, i); i == len(s.Text) {
			break
		}
		c := s.Text[i]
		if i++; c == '"' {
			s.Pos = i
			return true
		}
		if c == '\\' {
			i++ // and the loop passes the escaped byte
		}
	}
	s.Pos = len(s.Text)
	return false
}

// skimValue passes the value at the position without checking it.
func (s *Scanner) skimValue() *Error {
	start, depth := s.Pos, 0
	for s.Pos < len(s.Text) {
		switch c := s.Text[s.Pos]; {
		case c == '"':
			if !s.skim() {
				return s.Unexpected("the end of a string")
			}
		case !ends[c]:
			s.Pos++
			continue
		case c == '{' || c == '[':
			s.Pos++
			depth++
		case depth == 0:
			return s.someValue(start)
		case c == '}' || c == ']':
			s.Pos++
			depth--
		default:
			s.Pos++
			continue
		}
		if depth == 0 {
			return nil
		}
	}
	if depth > 0 {
		return s.Unexpected("a bracket")
	}
	return s.someValue(start)
}

// someValue returns an error if no text was passed since start.
func (s *Scanner) someValue(start int) *Error {
	if s.Pos == start {
		return s.Unexpected("a value")
	}
	return nil
}

// Pass passes text if it is next, and reports whether it was.
func (s *Scanner) Pass(text string) bool {
	if !strings.HasPrefix(s.Text[s.Pos:], text) {
		return false
	}
	s.Pos += len(text)
	return true
}

// Members passes white space and the object after it. It calls member for each name, with the bounds start and end of its quotes,
// at the position of the value. member must pass the value. Members returns false if the text is not an object, or if member
// returns false. The position is then the place of the failure.
func (s *Scanner) Members(member func(start, end int) bool) bool {
	if s.Space(); s.Peek() != '{' {
		return false
	}
	more, err := s.Open('}')
	for more && err == nil {
		start := s.Pos
		if s.Peek() != '"' || s.SkipString() != nil {
			return false
		}
		end := s.Pos
		if s.Colon() != nil || !member(start, end) {
			return false
		}
		more, err = s.More('}')
	}
	return err == nil
}

// Items passes white space and the list after it. It calls item for each item, and item must pass it. Items returns false if the
// text is not a list, or if item returns false.
func (s *Scanner) Items(item func() bool) bool {
	if s.Space(); s.Peek() != '[' {
		return false
	}
	more, err := s.Open(']')
	for more && err == nil {
		if !item() {
			return false
		}
		more, err = s.More(']')
	}
	return err == nil
}
