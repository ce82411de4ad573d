package fieldpath

import (
	"fmt"

	"github.com/deed-project/deed/internal/jsontext"
)

// The JSON of the package: jsontext in the mode of stored sets, which takes what json-iterator
// takes, and the errors that it gives.

// SyntaxError says where and why a text is not what it was read as.
type SyntaxError struct {
	What   string // what the text was read as: "fieldsV1", "path element" or "path"
	Offset int    // of the first byte that is wrong, counted from 0
	Reason string // such as "unexpected '}', want a colon"
}

// Error returns the reason with its place.
func (e *SyntaxError) Error() string {
	if e == nil {
		return "<nil>"
	}
	return fmt.Sprintf("invalid %s at byte %d: %s", e.What, e.Offset, e.Reason)
}

// syntaxError returns err, which is not nil, as the package's own type.
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

// name reads the name of a member, and the colon behind it. The first member is one that null is no
// name of.
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
