package keywords

import (
	"fmt"
	"slices"
	"strings"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/value"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kube-openapi/pkg/validation/errors"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
)

// faults finds the errors of a value, with the texts of the library. It calls the library for one part at a time, and only for parts that
// were judged bad:
//
//	schema  {properties: {a: {type: string}, b: {items: {maximum: 9}}}}
//	value   {a: x, b: [1, 10]}
//	call    with 10 at b[1], and {maximum: 9}
//
// Why not one call for the whole value: at each level, the library compares each error with all earlier errors, so that the cost is
// quadratic in the number of errors. It also prints the path of each error, and a path can be as long as the value.
//
// The errors are in an order in which the library may find them: it visits the members of an object in random order, and faults by name.
//
// Once the texts fill a refusal, faults only counts the errors that follow.
//
// It belongs to one call. Invariant: schema and the steps in at lead to the schema of the value that find visits; see schemaHere.
type faults struct {
	judging
	base   *field.Path  // of the whole value
	schema *spec.Schema // of the whole value
	at     []step       // where the walk is
	errs   field.ErrorList
	told   map[string]bool // their texts
	room   int             // bytes left for texts
	more   int             // errors that are only counted
}

// step leads to an item if index is not -1, and otherwise to a member.
type step struct {
	name  string
	index int // -1 for a member
}

// find walks v, whose node is n. was is the value that v replaces, or nil.
func (w *faults) find(n *node, v value.Value, was *former) {
	if n == nil || w.over() || was.is(v) {
		return
	}
	// An opaque node is always asked about, whatever its value.
	own, others := !n.opaque && w.own(n, v), good
	if !n.opaque {
		others = w.alternatives(n.junctors, v)
	}
	var late field.ErrorList
	switch {
	case w.ended:
		return
	case w.steps > MaxPatternSteps:
		w.tooManySteps()
		return
	// Something is wrong with v itself. Its parts are visited all the same, since they have errors of their own.
	case n.opaque || !own || others != good:
		late = w.tell(n, v, own, others)
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
				before = nil // errors of this part count even if it is unchanged
			}
			w.part(step{name: name, index: -1}, n.child(name), member, before)
		}
	}
	w.add(late...)
}

// part walks one part of a value, with the step to it on the path.
func (w *faults) part(at step, n *node, v value.Value, was *former) {
	if n == nil {
		return
	}
	w.at = append(w.at, at)
	w.find(n, v, was)
	w.at = w.at[:len(w.at)-1]
}

// tooManySteps adds the error that patterns take too long, and ends the walk.
func (w *faults) tooManySteps() {
	_, path := w.schemaHere()
	w.add(&field.Error{
		Type: field.ErrorTypeInvalid, Field: w.base.Child(strings.TrimPrefix(path, ".")).String(), BadValue: field.OmitValueType{},
		Detail: fmt.Sprintf("patterns take more than %d steps on this object, characters times instructions", MaxPatternSteps),
	})
	w.ended = true
}

// add adds errors, and takes the length of their texts from the room. Like the library, it tells no error twice: one may be of a value and of
// an alternative of the value around it.
func (w *faults) add(errs ...*field.Error) {
	for _, e := range errs {
		text := e.Error()
		if w.told[text] {
			continue
		}
		if w.told == nil {
			w.told = map[string]bool{}
		}
		w.told[text] = true
		w.room -= len(e.Field) + len(e.Detail)
		if text, ok := e.BadValue.(string); ok {
			w.room -= len(text)
		}
		w.errs = append(w.errs, e)
	}
}

// tell adds the errors of v itself, and returns those that the library finds after the errors of its parts. own tells that v has none apart
// from alternatives, and others is the verdict on the alternatives.
//
// Each call of the library is as small as it can be while the texts stay the same:
//
//	opaque        the whole value with the whole schema
//	own errors    the value with empty parts, unless an enum compares all of it, and the schema without its parts
//	alternatives  the whole value with the alternatives, if that is small; else tellAlternatives makes shorter texts
//
// The library checks the type of v first, then its alternatives, and then the rest.
func (w *faults) tell(n *node, v value.Value, own bool, others verdict) (late field.ErrorList) {
	if w.room < 0 {
		w.more++
		return nil
	}
	schema, path := w.schemaHere()
	if n.opaque {
		w.add(ordered(w.ask(schema, path, v.ToAny()))...)
		return nil
	}
	var rest field.ErrorList
	if !own {
		asked := w.shallow(n, schema, v)
		if len(asked.Enum) > 0 && isSmall(v, maxAsked/len(asked.Enum)) {
			rest = w.ask(&asked, path, v.ToAny())
		} else {
			asked.Enum = nil // no large value is in an enum
			rest = w.ask(&asked, path, hollow(v))
		}
		sortForbidden(rest)
		if len(rest) > 0 && (v.IsNull() || !n.fits(v)) {
			w.add(rest[0])
			rest = rest[1:]
		}
	}
	switch {
	case others == good: // or there are none
	case isSmall(v, maxAsked/n.junctors.size):
		asked := &spec.Schema{}
		asked.AllOf, asked.AnyOf, asked.OneOf, asked.Not = schema.AllOf, schema.AnyOf, schema.OneOf, schema.Not
		found := w.ask(asked, path, v.ToAny())
		if n.junctors.shuffled {
			found = ordered(found)
		}
		w.add(found...)
	default:
		w.tellAlternatives(n.junctors, v, path)
	}
	for _, e := range rest {
		if isLate(e, v.Kind()) {
			late = append(late, e)
		} else {
			w.add(e)
		}
	}
	return late
}

// sortForbidden sorts the errors of forbidden members, which are in a row.
func sortForbidden(errs field.ErrorList) {
	isForbidden := func(e *field.Error) bool { return strings.HasSuffix(e.Detail, "is a forbidden property") }
	from := slices.IndexFunc(errs, isForbidden)
	if from < 0 {
		return
	}
	to := from
	for to < len(errs) && isForbidden(errs[to]) {
		to++
	}
	slices.SortFunc(errs[from:to], func(a, b *field.Error) int { return strings.Compare(a.Detail, b.Detail) })
}

// isLate reports whether the library finds an error about a value after the errors of its parts. The length of a list and its enum come after
// the items, and a missing member comes after the other members.
func isLate(e *field.Error, kind value.Kind) bool {
	switch kind {
	case value.KindObject:
		return e.Type == field.ErrorTypeRequired
	case value.KindList:
		return e.Type == field.ErrorTypeTooMany || e.Type == field.ErrorTypeNotSupported || strings.Contains(e.Detail, "should have at least")
	}
	return false
}

// maxAsked bounds the size of one call to the library: the parts of the value times the alternatives. The cost of a call is quadratic in
// this size.
const maxAsked = 4000

// ask returns the errors that the library finds in a value, in its order.
//
// It changes schema, which must be a copy, and gives the pattern back to the texts that the library makes.
func (w *faults) ask(schema *spec.Schema, path string, data any) field.ErrorList {
	pattern := schema.Pattern
	if pattern != "" {
		schema.Pattern = noText
	}
	// strfmt.Default knows the formats that kube-apiserver checks.
	result := validate.NewSchemaValidator(schema, nil, path, strfmt.Default).Validate(data)
	for i, err := range result.Errors {
		if pattern != "" && err.Error() == errors.FailedPattern(path, "body", noText, data).Error() {
			result.Errors[i] = errors.FailedPattern(path, "body", pattern, data)
		}
	}
	return fieldErrors(w.base, result.Errors)
}

// noText is a pattern that matches nothing. ask passes it in place of the schema's pattern, because the library caches compiled patterns
// for ever.
const noText = `[^\s\S]`

// shallow returns the part of a schema that is about v itself, without its parts and alternatives.
func (w *faults) shallow(n *node, schema *spec.Schema, v value.Value) spec.Schema {
	out := *schema
	out.Items, out.AllOf, out.AnyOf, out.OneOf, out.Not = nil, nil, nil, nil, nil
	out.Properties = nil
	if !n.closed {
		out.AdditionalProperties = nil
	} else {
		// The library must see which members are declared, to find those that are not. What they are like does not matter here.
		out.Properties = map[string]spec.Schema{}
		for name := range v.Members() {
			if _, declared := n.properties[name]; declared {
				out.Properties[name] = spec.Schema{}
			}
		}
	}
	// The pattern is passed on only if it fails.
	if n.text == nil || n.text.pattern == nil || v.Kind() != value.KindString || w.matches(n.text, v.Str()) {
		out.Pattern = ""
	}
	return out
}

// hollow returns v in the library's form with empty parts.
//
// The keywords about the value itself look at the number and the names of its parts only.
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

// isSmall reports whether v has at most most parts.
func isSmall(v value.Value, most int) bool { return countParts(v, most) <= most }

// countParts returns the number of parts of v, or any number greater than most.
//
// It stops soon after most, so the cost does not grow with large values.
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

// tellAlternatives adds an error for each kind of alternative that v does not meet. The errors do not explain why.
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

// schemaHere returns the schema at the current path, and the path in the library's form. That form has a leading dot if the first step is a
// member that no property declares.
//
// The schema is found anew for each error, so that a walk without errors carries no schemas along. The cost is the depth.
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

// all returns the errors, followed by the number of uncounted ones.
func (w *faults) all() field.ErrorList {
	errs := w.errs
	if w.more > 0 {
		errs = append(errs, api.More(w.more))
	}
	return errs
}
