package typed

import (
	"errors"
	"fmt"
	"strings"

	deed "github.com/deed-project/deed/typed"
)

// ValidationError is one place where a value does not conform to its type.
type ValidationError struct {
	Path         string
	ErrorMessage string
}

// Error returns the message, with the path in front unless the path is empty.
func (ve ValidationError) Error() string {
	if ve.Path == "" {
		return ve.ErrorMessage
	}
	return ve.Path + ": " + ve.ErrorMessage
}

// ValidationErrors are all places where a value does not conform to its type.
type ValidationErrors []ValidationError

// Error returns a single error as it is, and several as indented lines under a heading.
func (errs ValidationErrors) Error() string {
	if len(errs) == 1 {
		return errs[0].Error()
	}
	var b strings.Builder
	b.WriteString("errors:")
	for _, e := range errs {
		b.WriteString("\n  " + e.Error())
	}
	return b.String()
}

// WithPath sets the path of all errors to p, and returns errs.
func (errs ValidationErrors) WithPath(p string) ValidationErrors {
	for i := range errs {
		errs[i].Path = p
	}
	return errs
}

// WithPrefix puts prefix in front of the path of all errors, and returns errs.
func (errs ValidationErrors) WithPrefix(prefix string) ValidationErrors {
	for i := range errs {
		errs[i].Path = prefix + errs[i].Path
	}
	return errs
}

// WithLazyPrefix does the work of [ValidationErrors.WithPrefix]. It calls fn, which may be nil, only if
// there are errors.
func (errs ValidationErrors) WithLazyPrefix(fn func() string) ValidationErrors {
	if len(errs) == 0 || fn == nil {
		return errs
	}
	return errs.WithPrefix(fn())
}

func errorf(format string, args ...interface{}) ValidationErrors {
	return ValidationErrors{{ErrorMessage: fmt.Sprintf(format, args...)}}
}

// fromDeed returns an error of deed's package typed as an error of this package.
func fromDeed(err error) error {
	var all deed.Errors
	if !errors.As(err, &all) {
		return err
	}
	out := make(ValidationErrors, len(all))
	for i, e := range all {
		out[i].ErrorMessage = e.Detail
		out[i].Path = strings.TrimSuffix(strings.TrimSuffix(e.Error(), e.Detail), ": ")
	}
	return out
}
