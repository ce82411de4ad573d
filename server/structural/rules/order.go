package rules

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/server/structural/keywords"
)

// pointing is a CEL rule with a fieldPath: its errors name a field below the value that the rule is about.
type pointing struct {
	at     []keywords.Segment // the field that the errors name; "" stands for an index or key
	below  int                // how many steps the field is below the value
	detail string             // of its errors; empty if an expression makes it
}

// pointingRules returns the rules with a fieldPath in a schema and below it. at leads to the schema.
func pointingRules(s *schema.Structural, at []keywords.Segment) (out []pointing) {
	if s == nil {
		return nil
	}
	for _, rule := range s.XValidations {
		if rule.FieldPath == "" {
			continue
		}
		below := keywords.Segments(rule.FieldPath)
		detail := cmp.Or(strings.TrimSpace(rule.Message), "failed rule: "+strings.TrimSpace(rule.Rule))
		if rule.MessageExpression != "" {
			detail = ""
		}
		out = append(out, pointing{slices.Concat(at, below), len(below), detail})
	}
	child := func(step keywords.Segment, s *schema.Structural) {
		out = append(out, pointingRules(s, append(slices.Clip(at), step))...)
	}
	for name, property := range s.Properties {
		child(keywords.Segment{Text: name}, &property)
	}
	child(keywords.Segment{Bracketed: true}, s.Items)
	if s.AdditionalProperties != nil {
		child(keywords.Segment{Bracketed: true}, s.AdditionalProperties.Structural)
	}
	return out
}

// valueOf returns the path of the value whose rule made an error of the CEL library.
func (r *Rules) valueOf(e *field.Error) []keywords.Segment {
	at := keywords.Segments(e.Field)
	for _, p := range r.pointing {
		same := func(a, b keywords.Segment) bool { return a.Bracketed && b.Bracketed || a == b }
		if slices.EqualFunc(at, p.at, same) && (p.detail == "" || p.detail == e.Detail) {
			return at[:len(at)-p.below]
		}
	}
	return at
}
