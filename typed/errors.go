package typed

import (
	"fmt"
	"strings"

	"github.com/deed-project/deed/fieldpath"
)

// The defects of a value. All of them are reported, so that a user can correct a file in one go.
// The texts equal the texts of kube-apiserver, because tests compare the two.

// Reason classifies an [Error].
type Reason uint8

// The reasons for which a value does not conform to its type, or cannot be merged.
const (
	WrongKind    Reason = iota + 1 // the type does not admit this kind of value
	Undeclared                     // the object has a member that its type does not declare
	Unidentified                   // an item has no identity: it has no keys, or its kind or its list allows none
	Duplicate                      // a set or keyed list holds an item twice
	BadSchema                      // the type itself is defective
)

// Error is one place where a value does not conform to its type.
type Error struct {
	Path   fieldpath.Path // path of the value, or of the list for defects of its items
	Reason Reason
	Detail string // the defect in words; a single defect in the words of Kubernetes

	// Plain is Detail for users: it shows a value as JSON, where Detail shows the value as Go prints
	// it.
	Plain string

	// Redacted is Plain without any value: it shows only the kind of a value, and does not name a
	// duplicate item. It is for objects whose values must not be shown.
	Redacted string
}

// Error returns the path and the detail. For the root, it returns the detail alone.
func (e *Error) Error() string {
	if e == nil {
		return "<nil>"
	}
	if len(e.Path) == 0 {
		return e.Detail
	}
	return paths.Decimal(e.Path) + ": " + e.Detail
}

// Errors lists all places where a value does not conform to its type, in the order of the walk.
// After tens of thousands of errors, the last one may have no reason: it stands for the errors left
// out.
type Errors []*Error

// Error returns the text of a single error, or a heading and an indented line for each error. After
// a megabyte of text, it gives only the number of further errors.
func (es Errors) Error() string {
	if len(es) == 1 {
		return es[0].Error()
	}
	var b strings.Builder
	b.WriteString("errors:")
	for i, e := range es {
		if b.Len() > maxText {
			fmt.Fprintf(&b, "\n  and %d more", len(es)-i)
			break
		}
		b.WriteString("\n  ")
		b.WriteString(e.Error())
	}
	return b.String()
}

// The paths of errors can be much longer than the value, if many wrong parts are deep in it or
// below long names. These limits bound the report.
const (
	maxElements = 1 << 17 // elements in the paths of all errors
	maxText     = 1 << 20 // bytes in the text of all errors
)

// report collects errors. Once their paths have more than maxElements elements, it only counts
// errors.
type report struct {
	errs           Errors
	elements, more int
}

// full reports whether the report is full. If it is, full counts one more error.
func (r *report) full() bool {
	if r.elements > maxElements {
		r.more++
	}
	return r.more > 0
}

func (r *report) add(e *Error) {
	r.elements += len(e.Path)
	r.errs = append(r.errs, e)
}

// all returns the errors, or nil. If errors were left out, the last error says how many.
func (r *report) all() Errors {
	if r.more == 0 {
		return r.errs
	}
	text := fmt.Sprintf("and %d more", r.more)
	return append(r.errs, &Error{Detail: text, Plain: text, Redacted: text})
}

// Unwrap returns the single errors, for [errors.As].
func (es Errors) Unwrap() []error {
	out := make([]error, len(es))
	for i, e := range es {
		out[i] = e
	}
	return out
}
