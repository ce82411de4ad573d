// Package checkpipe lets another program make [validation.Checks]. A [Client] starts the program when the first check is needed, and the program
// calls [Serve].
//
// Both speak JSON over the standard streams of the program: a question, its answer, the next question. A question is about the CEL rules of a
// schema or about an object of a built-in kind:
//
//	{"schema": 1, "openAPIV3Schema": {…}, "known": ["FieldValueRequired"], "object": {…}, "live": {…}}
//	{"kind": {"Group": "apiextensions.k8s.io", …}, "subresource": "status", "object": {…}, "live": {…}}
//
// Schemas have numbers, and only the first question about a schema contains it. known holds the types of the errors that are known already. The
// answer has the errors, each with its type, its field and its text, and the warnings:
//
//	{"errors": [{"type": "FieldValueInvalid", "field": "spec.size", "text": "0: must be positive"}], "warnings": ["spec.size: …"]}
package checkpipe

import (
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// question is a question to the program.
type question struct {
	Schema          int               `json:"schema,omitempty"` // counted from 1; 0 asks about a built-in kind
	OpenAPIV3Schema json.RawMessage   `json:"openAPIV3Schema,omitempty"`
	Known           []field.ErrorType `json:"known,omitempty"`
	Kind            schema.GVK        `json:"kind,omitzero"`
	Subresource     string            `json:"subresource,omitempty"`
	Object          json.RawMessage   `json:"object"`
	Live            json.RawMessage   `json:"live,omitempty"` // absent if object is new
}

// answer is the answer to a question.
type answer struct {
	Errors   []fault  `json:"errors,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

// fault is an error about a field.
type fault struct {
	Type  field.ErrorType `json:"type"`
	Field string          `json:"field"`
	Text  string          `json:"text"` // value and detail, as a server prints them
}

// faultsOf returns errs for an answer.
func faultsOf(errs field.ErrorList) []fault {
	var out []fault
	for _, err := range errs {
		text := strings.TrimPrefix(strings.TrimPrefix(err.ErrorBody(), err.Type.String()), ": ")
		out = append(out, fault{err.Type, err.Field, text})
	}
	return out
}

// errors returns the errors of an answer. They have no values: the details have them in front.
func (a answer) errors() field.ErrorList {
	var out field.ErrorList
	for _, f := range a.Errors {
		out = append(out, &field.Error{Type: f.Type, Field: f.Field, BadValue: field.OmitValueType{}, Detail: f.Text})
	}
	return out
}

// textOf returns v as JSON, or nil if it is absent.
func textOf(v value.Value) json.RawMessage {
	if v.IsAbsent() {
		return nil
	}
	return v.AppendJSON(nil)
}

// parsed returns the value that textOf printed.
func parsed(text json.RawMessage) (value.Value, error) {
	if len(text) == 0 {
		return value.Value{}, nil
	}
	return value.Parse(text)
}
