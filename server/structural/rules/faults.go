package rules

import (
	"fmt"
	"strings"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/value"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kube-openapi/pkg/validation/errors"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
)

// faults says what is wrong with a value, in the words of the library. The library is asked about one part at a time, and only about parts
// that were judged bad:
//
//	schema  {properties: {a: {type: string}, b: {items: {maximum: 9}}}}
//	value   {a: x, b: [1, 10]}
//	asked   about 10 at b[1], by {maximum: 9}
//
// Why not about the whole value: the library compares each error with all that it found before, at each level of the value, so that the cost
// grows with the square of what is wrong; and it prints the path of every error, which may be as long as the value.
//
// As soon as there is as much text as a refusal may have, the other faults are only counted.
type faults struct {
	judging
	base   *field.Path  // of the whole value
	schema *spec.Schema // of the whole value
	at     []step       // where the walk is
	errs   field.ErrorList
	room   int // for texts
	more   int // faults beyond
}

// step leads to a member, or to an item if the name is empty and there is an index.
type step struct {
	name  string
	index int // -1 for a member
}

// find walks v, whose node is n. was is what it replaces, nil for nothing.
func (w *faults) find(n *node, v value.Value, was *former) {
	if n == nil || w.over() || was.is(v) {
		return
	}
	own, others := !n.opaque && w.own(n, v), good
	if !n.opaque {
		others = w.alternatives(n.junctors, v)
	}
	switch {
	case w.ended:
		return
	case w.steps > MaxPatternSteps:
		w.tooManySteps()
		return
	case n.opaque || !own || others != good:
		w.tell(n, v, own, others)
	}
	switch v.Kind() {
	case value.KindList:
		for i := range v.Len() {
			w.part(step{index: i}, n.items, v.Item(i), was.item(v.Item(i)))
		}
	case value.KindObject:
		for name, member := range v.Members() {
			before := was.member(name)
			if len(w.at) == 0 && (name == "kind" || name == "apiVersion") {
				before = nil // what is said of them counts whatever they were
			}
			w.part(step{name: name, index: -1}, n.child(name), member, before)
		}
	}
}

func (w *faults) part(at step, n *node, v value.Value, was *former) {
	if n == nil {
		return
	}
	w.at = append(w.at, at)
	w.find(n, v, was)
	w.at = w.at[:len(w.at)-1]
}

// tooManySteps says that patterns take too long, and ends the walk.
func (w *faults) tooManySteps() {
	_, path := w.schemaHere()
	w.add(&field.Error{
		Type: field.ErrorTypeInvalid, Field: w.base.Child(strings.TrimPrefix(path, ".")).String(), BadValue: field.OmitValueType{},
		Detail: fmt.Sprintf("patterns take more than %d steps on this object, characters times instructions", MaxPatternSteps),
	})
	w.ended = true
}

func (w *faults) add(errs ...*field.Error) {
	for _, e := range errs {
		w.room -= len(e.Field) + len(e.Detail)
		if text, ok := e.BadValue.(string); ok {
			w.room -= len(text)
		}
		w.errs = append(w.errs, e)
	}
}

// tell adds what is wrong with v itself. own tells that nothing is, apart from alternatives, and others how it is with these.
func (w *faults) tell(n *node, v value.Value, own bool, others verdict) {
	if w.room < 0 {
		w.more++
		return
	}
	schema, path := w.schemaHere()
	if n.opaque {
		w.ask(schema, path, v.ToAny())
		return
	}
	small := others == good || isSmall(v, maxAsked/n.junctors.size) // or there are none
	asked := &spec.Schema{}
	if !own {
		*asked = w.shallow(n, schema, v)
	}
	if others != good && small {
		asked.AllOf, asked.AnyOf, asked.OneOf, asked.Not = schema.AllOf, schema.AnyOf, schema.OneOf, schema.Not
	}
	switch {
	case others != good && small || len(asked.Enum) > 0 && isSmall(v, maxAsked/len(asked.Enum)):
		w.ask(asked, path, v.ToAny())
	case !own:
		asked.Enum = nil // of which a large value is none
		w.ask(asked, path, hollow(v))
	}
	if !small {
		w.tellAlternatives(n.junctors, v, path)
	}
}

// maxAsked is how many parts of a value the library is shown at once, times the alternatives that it is to compare them with. The cost grows
// with the square.
const maxAsked = 4000

// ask adds what the library says about a value.
func (w *faults) ask(schema *spec.Schema, path string, data any) {
	pattern := schema.Pattern
	if pattern != "" {
		schema.Pattern = noText
	}
	result := validate.NewSchemaValidator(schema, nil, path, strfmt.Default).Validate(data)
	for i, err := range result.Errors {
		if pattern != "" && err.Error() == errors.FailedPattern(path, "body", noText, data).Error() {
			result.Errors[i] = errors.FailedPattern(path, "body", pattern, data)
		}
	}
	w.add(validation.ValidateCustomResource(w.base, nil, told{result})...)
}

// noText is a pattern that nothing matches. It stands for others when the library is asked, because it remembers all patterns for ever.
const noText = `[^\s\S]`

// told is what a validator said: validation.SchemaCreateValidator.
type told struct{ *validate.Result }

// Validate returns it.
func (t told) Validate(any, ...validation.ValidationOption) *validate.Result { return t.Result }

// shallow returns what a schema says of v apart from its parts and from alternatives.
func (w *faults) shallow(n *node, schema *spec.Schema, v value.Value) spec.Schema {
	out := *schema
	out.Items, out.AllOf, out.AnyOf, out.OneOf, out.Not = nil, nil, nil, nil, nil
	out.Properties = nil
	if !n.closed {
		out.AdditionalProperties = nil
	} else {
		out.Properties = map[string]spec.Schema{}
		for name := range v.Members() {
			if _, declared := n.properties[name]; declared {
				out.Properties[name] = spec.Schema{}
			}
		}
	}
	if n.text == nil || n.text.pattern == nil || v.Kind() != value.KindString || w.matches(n.text, v.Str()) {
		out.Pattern = ""
	}
	return out
}

// hollow returns v as the library takes it, without what is in its parts.
func hollow(v value.Value) any {
	switch v.Kind() {
	case value.KindList:
		return make([]any, v.Len())
	case value.KindObject:
		out := make(map[string]any, v.Len())
		for name := range v.Members() {
			out[name] = nil
		}
		return out
	}
	return v.ToAny()
}

// isSmall reports whether v has at most so many parts.
func isSmall(v value.Value, most int) bool { return countParts(v, most) <= most }

// countParts returns how many parts v has, or a number beyond most.
func countParts(v value.Value, most int) int {
	n := 1
	for part := range v.Items() {
		if n += countParts(part, most-n); n > most {
			return n
		}
	}
	for _, part := range v.Members() {
		if n += countParts(part, most-n); n > most {
			return n
		}
	}
	return n
}

// tellAlternatives adds which alternatives v does not meet, and not why.
func (w *faults) tellAlternatives(of *junctors, v value.Value, path string) {
	tell := func(format string, args ...any) {
		w.add(field.Invalid(w.base, "", fmt.Sprintf(format, append([]any{path}, args...)...)))
	}
	if len(of.any) > 0 && w.anyOf(of.any, v) == bad {
		tell(validate.MustValidateAtLeastOneSchemaError)
	}
	if len(of.one) > 0 {
		switch found, valid := w.oneOf(of.one, v); {
		case found == bad && valid == 0:
			tell(validate.MustValidateOnlyOneSchemaError, "Found none valid")
		case found == bad:
			tell(validate.MustValidateOnlyOneSchemaError, fmt.Sprintf("Found %d valid alternatives", valid))
		}
	}
	valid := 0
	for _, n := range of.all {
		if w.judge(n, v, value.Value{}) == good {
			valid++
		}
	}
	switch {
	case valid == len(of.all):
	case valid == 0:
		tell(validate.MustValidateAllSchemasError, ". None validated")
	default:
		tell(validate.MustValidateAllSchemasError, "")
	}
	if of.not != nil && w.judge(of.not, v, value.Value{}) == good {
		tell(validate.MustNotValidateSchemaError)
	}
}

// schemaHere returns the schema of where the walk is, and its path as the library has it: with a dot in front of a member of the whole value
// that no property declares.
func (w *faults) schemaHere() (s *spec.Schema, path string) {
	var b []byte
	s = w.schema
	for _, at := range w.at {
		if at.index >= 0 {
			b, s = fmt.Appendf(b, "[%d]", at.index), s.Items.Schema
			continue
		}
		property, declared := s.Properties[at.name]
		if len(b) > 0 || !declared {
			b = append(b, '.')
		}
		b = append(b, at.name...)
		if declared {
			s = &property
		} else {
			s = s.AdditionalProperties.Schema
		}
	}
	return s, string(b)
}

// all returns the faults in the order of their fields, and then how many more there are.
func (w *faults) all() field.ErrorList {
	errs := ordered(w.errs)
	if w.more > 0 {
		errs = append(errs, api.More(w.more))
	}
	return errs
}
