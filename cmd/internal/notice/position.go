package notice

import (
	"cmp"
	"fmt"
)

// Position is a place in a file. Line and column start at 1; 0 means unknown.
type Position struct {
	File         string
	Line, Column int
}

// InFile returns the position of a whole file.
func InFile(name string) Position { return Position{File: name} }

// String returns the position in the form that editors and terminals recognize: FILE:LINE:COLUMN.
func (p Position) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.Column == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Compare orders positions in one file.
func (p Position) Compare(q Position) int {
	return cmp.Or(cmp.Compare(p.Line, q.Line), cmp.Compare(p.Column, q.Column))
}

// EachError calls f for the errors that err joins, at any depth.
func EachError(err error, f func(error)) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			EachError(e, f)
		}
	} else if err != nil {
		f(err)
	}
}
