package structs

import (
	"fmt"
	"reflect"

	"github.com/deed-project/deed/internal/jsontext"
	"github.com/deed-project/deed/value"
)

// fault is a [value.ConversionError] on its way out. Its path is not complete yet.
type fault struct {
	reason string
	err    error // from a method of a Go type, or from a decoder; may be nil
	trail  jsontext.Trail
}

// within adds one step to the path.
func (f *fault) within(step string) *fault {
	f.trail.Add(step)
	return f
}

func (f *fault) located() error {
	return &value.ConversionError{Path: f.trail.Path(), Reason: f.reason, Err: f.err}
}

func inexpressible(format string, args ...any) *fault {
	return &fault{reason: fmt.Sprintf(format, args...)}
}

// failure wraps the error of a method of the Go type t.
func failure(method string, t reflect.Type, err error) *fault {
	return &fault{reason: fmt.Sprintf("%s of Go type %v", method, t), err: err}
}

// misfit returns the error that t cannot hold v.
func misfit(v value.Value, t reflect.Type) *fault {
	kind := v.Kind().String()
	if isNumber(v) {
		kind = "number " + v.String()
	}
	return inexpressible("%s does not fit Go type %v", kind, t)
}

func isNumber(v value.Value) bool { return v.Kind() == value.KindInt || v.Kind() == value.KindFloat }
