package fieldpath

import (
	"fmt"

	"github.com/deed-project/deed/internal/jsontext"
)

// The JSON of the package: jsontext in the mode Stored, which accepts what json-iterator accepts,
// and the package's own type of errors.

// SyntaxError reports where and why a text cannot be read.
type SyntaxError struct {
	What   string // what the text should be: "fieldsV1", "path element" or "path"
	Offset int    // of the first wrong byte, counted from 0
	Reason string // such as "unexpected '}', want a colon"
}

// Error returns the reason with its place.
func (e *SyntaxError) Error() string {
	if e == nil {
		return "<nil>"
	}
	return fmt.Sprintf("invalid %s at byte %d: %s", e.What, e.Offset, e.Reason)
}

// syntaxError returns err, which is not nil, as a [*SyntaxError].
func syntaxError(what string, err *jsontext.Error) error {
	return &SyntaxError{What: what, Offset: err.Offset, Reason: err.Reason}
}

// scanner reads the JSON of stored sets, and of paths.
type scanner struct {
	jsontext.Scanner
	unordered bool // an object was read whose members are not strictly ascending
}

// scan returns a scanner for text from pos on.
func scan(text string, pos int) scanner {
	return scanner{Scanner: jsontext.Scanner{Text: text, Pos: pos, Mode: jsontext.Stored}}
}

// name reads the name of a member, and the colon after it. null may stand for the name of a member
// that is not the first; name then returns "".
func (s *scanner) name(first bool) (name string, err *jsontext.Error) {
	if !first && s.NullName() {
		return "", s.Colon()
	}
	if s.Peek() != '"' {
		return "", s.NoName()
	}
	if name, err = s.str(); err != nil {
		return "", err
	}
	return name, s.Colon()
}

// str reads the string at the position. A string without escapes is a part of the text.
func (s *scanner) str() (string, *jsontext.Error) {
	if text, ok := s.PlainString(); ok {
		return text, nil
	}
	b, err := s.AppendString(nil)
	return string(b), err
}
