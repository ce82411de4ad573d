package value

import (
	"fmt"

	"github.com/deed-project/deed/internal/jsontext"
)

// The errors of the package. Where they are is collected on the way out, step by step, so that
// reading without an error costs nothing for paths: an error in spec.ports[2] comes by [2], .ports
// and .spec.

// SyntaxError says where and why a text is no JSON document.
type SyntaxError struct {
	Offset int    // of the first byte that is wrong, counted from 0
	Path   string // of the value that is being read, such as .spec.ports[2]; empty at the root
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
	Err    error // what a method of a Go type or a decoder returned, or nil

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

// Unwrap returns what a method of a Go type or a decoder returned, or nil.
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

// located returns e with the path that its steps make. The steps are not needed any more.
func (e *ConversionError) located() *ConversionError {
	e.Path, e.trail = e.trail.Path(), nil
	return e
}

// inexpressible returns the error for a Go value that is no JSON, at a place that is not known yet.
func inexpressible(format string, args ...any) *ConversionError {
	return &ConversionError{Reason: fmt.Sprintf(format, args...)}
}
