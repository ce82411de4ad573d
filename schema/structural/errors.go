package structural

import (
	"fmt"
	"strconv"

	"github.com/deed-project/deed/value"
)

// Reason says how a field is wrong. Its text is the reason of a cause in an API server's Status.
type Reason string

// The reasons that this package finds.
const (
	Invalid   Reason = "FieldValueInvalid"
	Duplicate Reason = "FieldValueDuplicate"
	More      Reason = "More" // the error stands for others that are only counted
)

// FieldError is a defect of a field of an object, in the words of an API server.
type FieldError struct {
	Reason Reason
	Path   string      // such as spec.ports[2]; members by additionalProperties are in brackets
	Value  value.Value // the value of the field
	Detail string      // empty for Duplicate
	Others int         // the number of errors that a More error stands for
}

// Error returns the path and the message.
func (e *FieldError) Error() string {
	if e == nil {
		return "<nil>"
	}
	if e.Reason == More {
		return e.Message()
	}
	return e.Path + ": " + e.Message()
}

// Message returns the message of a Status cause: the reason in words, the value, and the detail.
func (e *FieldError) Message() string {
	if e == nil {
		return ""
	}
	text := "Invalid value: "
	switch e.Reason {
	case Duplicate:
		text = "Duplicate value: "
	case More:
		return fmt.Sprintf("and %d more", e.Others)
	}
	text += printed(e.Value)
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}

// printed returns v as field errors show it.
func printed(v value.Value) string {
	switch v.Kind() {
	case value.KindString:
		return strconv.Quote(v.Str())
	case value.KindFloat:
		return fmt.Sprint(v.Float())
	}
	return string(v.AppendJSON(nil))
}
