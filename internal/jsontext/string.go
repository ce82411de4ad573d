package jsontext

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// PlainString passes the string at the position and returns its content, a part of Text, if the content equals the text between
// the quotes. The string then has no escape and, unless the mode is Stored, only ASCII. Otherwise PlainString passes nothing.
func (s *Scanner) PlainString() (text string, ok bool) {
	start := s.Pos + 1
	end := s.plainEnd(start)
	if end == len(s.Text) || s.Text[end] != '"' {
		return "", false
	}
	s.Pos = end + 1
	return s.Text[start:end], true
}

// SimpleString passes a string of simple characters, see [Simple], and returns the characters. quote is the text that begins and
// ends the string: a quote, or a quote after a backslash where the string is written within a JSON string. If ok is false,
// SimpleString may have passed a part of the text.
func (s *Scanner) SimpleString(quote string) (text string, ok bool) {
	if !s.passQuote(quote) {
		return "", false
	}
	start := s.Pos
	s.Pos = simpleEnd(s.Text, start)
	return s.Text[start:s.Pos], s.passQuote(quote)
}

// passQuote does the work of Pass for the quote of a SimpleString. The quote has one byte or two.
func (s *Scanner) passQuote(quote string) bool {
	rest := s.Text[s.Pos:]
	if len(rest) < len(quote) || rest[0] != quote[0] || rest[len(quote)-1] != '"' {
		return false
	}
	s.Pos += len(quote)
	return true
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
	if s.Mode == Skipping {
		if !s.skim() {
			return s.Unexpected("the end of a string")
		}
		return nil
	}
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

// takesControl reports whether the mode accepts a control character at the position. The string begins at quote. escaped reports
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

// escape passes an escape, or the two escapes of a surrogate pair. In mode Stored, it also passes any \uXXXX after half a pair.
// It returns the resulting character, and a second one, or -1 if there is none.
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
		return utf8.RuneError, low, nil // if low is a surrogate, it is appended as U+FFFD
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

// plainEnd returns the result of [PlainEnd] in mode Stored, and of [asciiEnd] in other modes.
func (s *Scanner) plainEnd(i int) int {
	if s.Mode == Stored {
		return PlainEnd(s.Text, i)
	}
	return asciiEnd(s.Text, i)
}
