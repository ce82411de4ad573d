package kinds

import (
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/deed-project/deed/value"
)

// labels refuses names and values of labels.
func (r *report) labels(p place) {
	for name, text := range p.Members() {
		if isLabel(name) && isLabel(text.Str()) {
			continue // which are both
		}
		r.invalidAs(p, name, validation.IsQualifiedName(name)...)
		r.invalidAs(p, text.Str(), validation.IsValidLabelValue(text.Str())...)
	}
}

// selector refuses a selector of labels.
func (r *report) selector(p place) {
	r.labels(p.at("matchLabels"))
	expressions := p.at("matchExpressions")
	for i := range expressions.indexes() {
		e := expressions.item(i)
		values := e.at("values")
		switch operator := e.at("operator"); operator.Str() {
		case "In", "NotIn":
			if values.Len() == 0 {
				r.required(values, "must be specified when `operator` is 'In' or 'NotIn'")
			}
		case "Exists", "DoesNotExist":
			if values.Len() > 0 {
				r.forbidden(values, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
			}
		default:
			r.invalidAs(operator, operator.Str(), "not a valid selector operator")
		}
		key := e.at("key")
		r.invalidAs(key, key.Str(), validation.IsQualifiedName(key.Str())...)
		for i := range values.indexes() {
			v := values.item(i)
			r.invalidAs(v, v.Str(), validation.IsValidLabelValue(v.Str())...)
		}
	}
}

// selects reports whether a selector asks for anything.
func selects(selector value.Value) bool {
	return selector.Get("matchLabels").Len() > 0 || selector.Get("matchExpressions").Len() > 0
}

// selected reports whether labels are as a selector asks for, which asks for nothing wrong.
func selected(selector, labels value.Value) bool {
	for name, text := range selector.Get("matchLabels").Members() {
		if !labels.Get(name).Equal(text) {
			return false
		}
	}
	for e := range selector.Get("matchExpressions").Items() {
		if !meets(e, labels.Get(e.Get("key").Str())) {
			return false
		}
	}
	return true
}

// meets reports whether a label is as an expression of a selector asks for.
func meets(e, label value.Value) bool {
	in := false
	for v := range e.Get("values").Items() {
		in = in || v.Equal(label)
	}
	switch e.Get("operator").Str() {
	case "In":
		return in
	case "NotIn":
		return !in
	case "Exists":
		return isSet(label)
	}
	return !isSet(label)
}
