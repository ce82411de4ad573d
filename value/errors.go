package value

import (
	"fmt"

	"github.com/deed-project/deed/internal/jsontext"
)

// The errors of the package. An error collects its path on the way out, step by step, so paths cost
// nothing without an error. An error in spec.ports[2] collects [2], .ports and .spec.

// SyntaxError says where and why a text is no JSON document.
type SyntaxError struct {
	Offset int    // of the first wrong byte, counted from 0
	Path   string // of the value that contains it, such as .spec.ports[2]; empty at the root
	Reason string // such as "duplicate name \"a\""
}

// Error returns the reason with its place. The wording may change.
func (e *SyntaxError) Error() string {
	if e == nil {
		return "<nil>"
	}
	if e.Path == "" {
		return fmt.Sprintf("invalid JSON at byte %d: %s", e.Offset, e.Reason)
	}
	return fmt.Sprintf("invalid JSON at byte %d, in %s: %s", e.Offset, e.Path, e.Reason)
}

// syntaxError returns err, which is not nil, as the package's own type.
func syntaxError(err *jsontext.Error) error {
	return &SyntaxError{Offset: err.Offset, Path: err.Trail.Path(), Reason: err.Reason}
}

// ConversionError says where and why a Go value is no JSON document, or a document does not fit a
// Go type.
type ConversionError struct {
	Path   string // of the value, such as .spec.ports[2]; empty at the root
	Reason string
	Err    error // from a method of the Go type, or from a decoder; may be nil

	trail jsontext.Trail
}

// Error returns the reason with its path. The wording may change.
func (e *ConversionError) Error() string {
	if e == nil {
		return "<nil>"
	}
	text := e.Reason
	if e.Path != "" {
		text = e.Path + ": " + text
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns e.Err, or nil if e is nil.
func (e *ConversionError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// within adds one step to the path of an error on its way out.
func (e *ConversionError) within(step string) *ConversionError {
	e.trail.Add(step)
	return e
}

// located sets the path of e from its steps, drops the steps, and returns e.
func (e *ConversionError) located() *ConversionError {
	e.Path, e.trail = e.trail.Path(), nil
	return e
}

// inexpressible returns an error for a Go value that JSON cannot express. Its path is still empty.
func inexpressible(format string, args ...any) *ConversionError {
	return &ConversionError{Reason: fmt.Sprintf(format, args...)}
}
