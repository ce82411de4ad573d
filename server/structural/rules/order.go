package rules

import (
	"cmp"
	"slices"
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The order of errors. The library visits the members of an object in random order. Here they come by name, so that equal objects have equal
// errors. Everything else is as in the library: a value's own errors precede those of its parts, and items are in order.

// segment is a step of a field's path: a member's name, or what stands in brackets.
type segment struct {
	text    string
	bracket bool
}

// segments splits the path of a field, such as spec.list[3].map[a.b/c].
func segments(path string) []segment {
	var out []segment
	for path != "" {
		if key, rest, ok := strings.Cut(path[1:], "]"); path[0] == '[' && ok {
			out, path = append(out, segment{key, true}), rest
			continue
		}
		path = strings.TrimPrefix(path, ".")
		end := strings.IndexAny(path, ".[")
		if end <= 0 {
			end = len(path)
		}
		out, path = append(out, segment{path[:end], false}), path[end:]
	}
	return out
}

// compareSegments orders steps by name, and indexes as numbers.
func compareSegments(a, b segment) int {
	if a.isIndex() && b.isIndex() {
		return cmp.Or(cmp.Compare(len(a.text), len(b.text)), strings.Compare(a.text, b.text))
	}
	return strings.Compare(a.text, b.text)
}

// isIndex reports whether a step leads to an item. A key that looks like an index is taken for one, which does no harm.
func (s segment) isIndex() bool {
	return s.bracket && strings.IndexFunc(s.text, func(r rune) bool { return r < '0' || r > '9' }) < 0
}

// ordered sorts errors by the value that they are about. The errors of one value keep the library's order.
func ordered(errs field.ErrorList) field.ErrorList {
	return orderedBy(errs, func(e *field.Error) []segment { return segments(fieldOf(e)) })
}

// orderedBy is ordered with a function that tells the path of the value.
func orderedBy(errs field.ErrorList, path func(*field.Error) []segment) field.ErrorList {
	type located struct {
		*field.Error
		at []segment
	}
	all := make([]located, len(errs))
	for i, e := range errs {
		all[i] = located{e, path(e)}
	}
	slices.SortStableFunc(all, func(a, b located) int { return slices.CompareFunc(a.at, b.at, compareSegments) })
	for i, e := range all {
		errs[i] = e.Error
	}
	return errs
}

// fieldOf returns the field of an error. Some errors name it only at the end of their text.
//
// The library prints "<nil>" for the field of errors that it makes without a path.
func fieldOf(e *field.Error) string {
	if at := strings.LastIndex(e.Detail, " in "); e.Field == "<nil>" && at >= 0 {
		return e.Detail[at+len(" in "):]
	}
	return e.Field
}

// pointing is a CEL rule with a fieldPath: its errors name a field below the value that the rule is about.
type pointing struct {
	at     []segment // the field that the errors name; "" stands for an index or key
	below  int       // how many steps the field is below the value
	detail string    // of its errors; empty if an expression makes it
}

// pointingRules returns the rules with a fieldPath in a schema and below it. at leads to the schema.
func pointingRules(s *structuralschema.Structural, at []segment) (out []pointing) {
	if s == nil {
		return nil
	}
	for _, rule := range s.XValidations {
		if rule.FieldPath == "" {
			continue
		}
		below := segments(rule.FieldPath)
		detail := cmp.Or(strings.TrimSpace(rule.Message), "failed rule: "+strings.TrimSpace(rule.Rule))
		if rule.MessageExpression != "" {
			detail = ""
		}
		out = append(out, pointing{slices.Concat(at, below), len(below), detail})
	}
	child := func(step segment, s *structuralschema.Structural) {
		out = append(out, pointingRules(s, append(slices.Clip(at), step))...)
	}
	for name, property := range s.Properties {
		child(segment{text: name}, &property)
	}
	child(segment{bracket: true}, s.Items)
	if s.AdditionalProperties != nil {
		child(segment{bracket: true}, s.AdditionalProperties.Structural)
	}
	return out
}

// valueOf returns the path of the value whose rule made an error of the CEL library.
func (r *Rules) valueOf(e *field.Error) []segment {
	at := segments(e.Field)
	for _, p := range r.pointing {
		same := func(a, b segment) bool { return a.bracket && b.bracket || a == b }
		if slices.EqualFunc(at, p.at, same) && (p.detail == "" || p.detail == e.Detail) {
			return at[:len(at)-p.below]
		}
	}
	return at
}
