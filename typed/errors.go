package typed

import (
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

// Errors are all places where a value does not conform to its type, in the order of the walk.
type Errors []*Error

// Error returns a single error as it is, and several as indented lines under a heading.
func (es Errors) Error() string {
	if len(es) == 1 {
		return es[0].Error()
	}
	var b strings.Builder
	b.WriteString("errors:")
	for _, e := range es {
		b.WriteString("\n  ")
		b.WriteString(e.Error())
	}
	return b.String()
}

// Unwrap returns the single errors, for [errors.As].
func (es Errors) Unwrap() []error {
	out := make([]error, len(es))
	for i, e := range es {
		out[i] = e
	}
	return out
}
