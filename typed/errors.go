package typed

import (
	"fmt"
	"strings"

	"github.com/deed-project/deed/fieldpath"
)

// What is wrong with a value. All places are reported, so that a person can mend a file in one go;
// the texts are those of kube-apiserver to the letter, for they are compared with its own.

// Reason classifies an [Error].
type Reason uint8

// The reasons for which a value does not conform to its type, or cannot be merged.
const (
	WrongKind    Reason = iota + 1 // the type does not admit this kind of value
	Undeclared                     // the object has a member that its type does not declare
	Unidentified                   // an item of a set or keyed list has no identity: no keys, or a kind that has none
	Duplicate                      // an item of a set or keyed list is there twice
	BadSchema                      // the type itself is defective
)

// Error is one place where a value does not conform to its type.
type Error struct {
	Path   fieldpath.Path // of the value; of the list, for defects of its items
	Reason Reason
	Detail string // in words; where it comes down to a single defect, in those of Kubernetes

	// Plain is Detail for people: where that shows a value as a program prints it, Plain shows it
	// as JSON has it.
	Plain string

	// Redacted is Plain without anything of the value: it says of which kind that is, and leaves out
	// which item is there twice. It is for objects whose values are not to be shown.
	Redacted string
}

// Error returns the detail, with the path in front unless that is the root.
func (e *Error) Error() string {
	if e == nil {
		return "<nil>"
	}
	if len(e.Path) == 0 {
		return e.Detail
	}
	return paths.Decimal(e.Path) + ": " + e.Detail
}

// Errors are all places where a value does not conform to its type, in the order of the walk. Of tens of
// thousands the last one, which has no reason, may stand for those that are not told apart.
type Errors []*Error

// Error returns a single error as it is, and several as indented lines under a heading. Behind a
// megabyte of text it says how many there are beyond.
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

// Paths of errors are longer than the value by far where many parts of it are wrong that are deep in
// it, or below long names. So there is an end to what is reported.
const (
	maxElements = 1 << 17 // of the paths of all errors
	maxText     = 1 << 20 // of all errors
)

// report collects errors. When their paths have more than maxElements, it only counts.
type report struct {
	errs           Errors
	elements, more int
}

// full reports whether no more errors are told apart. Then it counts one.
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

// all returns the errors, nil if there are none. The last one tells how many are left out, if any are.
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
