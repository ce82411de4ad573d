package auth

import (
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// This file has the selectors of reviews, by which an action is about some objects of a resource only.

// checkSelectors returns what is wrong with the selectors of a review. An operator may be unknown: the requirement is left out then.
func checkSelectors(r *authorizationv1.ResourceAttributes) (errs field.ErrorList) {
	if r == nil {
		return nil
	}
	path := field.NewPath("spec", "resourceAttributes")
	if s := r.FieldSelector; s != nil {
		at, options := path.Child("fieldSelector"), validation.FieldSelectorValidationOptions{AllowUnknownOperatorInRequirement: true}
		errs = append(errs, checkForm(at, s.RawSelector, len(s.Requirements))...)
		for i, one := range s.Requirements {
			errs = append(errs, validation.ValidateFieldSelectorRequirement(one, options, at.Child("requirements").Index(i))...)
		}
	}
	if s := r.LabelSelector; s != nil {
		at, options := path.Child("labelSelector"), validation.LabelSelectorValidationOptions{AllowUnknownOperatorInRequirement: true}
		errs = append(errs, checkForm(at, s.RawSelector, len(s.Requirements))...)
		for i, one := range s.Requirements {
			errs = append(errs, validation.ValidateLabelSelectorRequirement(one, options, at.Child("requirements").Index(i))...)
		}
	}
	return errs
}

// checkForm returns an error unless a selector is either a text or a list of requirements.
func checkForm(path *field.Path, raw string, requirements int) field.ErrorList {
	switch {
	case raw != "" && requirements > 0:
		return field.ErrorList{field.Invalid(path.Child("rawSelector"), raw, "may not specified at the same time as requirements")}
	case raw == "" && requirements == 0:
		return field.ErrorList{field.Required(path.Child("requirements"),
			fmt.Sprintf("when %s is specified, requirements or rawSelector is required", path))}
	}
	return nil
}

// reading counts the requirements of a selector that could be read, and those that could not.
type reading struct{ read, unread int }

// missing returns the notice about requirements that could not be read, if there are some. name is the selector's name in the review.
func (n reading) missing(name string) []string {
	switch {
	case n.unread == 0:
		return nil
	case n.read > 0:
		return []string{"spec.resourceAttributes." + name + " partially ignored due to parse error"}
	}
	return []string{"spec.resourceAttributes." + name + " ignored due to parse error"}
}

// selectedFields returns the field selector of a review as the text of a query. It leaves out requirements that a query cannot express: the
// action is then about more objects, and never about fewer.
func selectedFields(s *authorizationv1.FieldSelectorAttributes) (text string, n reading) {
	switch {
	case s == nil:
		return "", n
	case s.RawSelector != "":
		if _, err := fields.ParseSelector(s.RawSelector); err != nil {
			return "", reading{unread: 1}
		}
		return s.RawSelector, n
	}
	var terms []fields.Selector
	for _, r := range s.Requirements {
		switch {
		case len(r.Values) == 1 && r.Operator == metav1.FieldSelectorOpIn:
			terms = append(terms, fields.OneTermEqualSelector(r.Key, r.Values[0]))
		case len(r.Values) == 1 && r.Operator == metav1.FieldSelectorOpNotIn:
			terms = append(terms, fields.OneTermNotEqualSelector(r.Key, r.Values[0]))
		default:
			n.unread++
		}
	}
	n.read = len(terms)
	return fields.AndSelectors(terms...).String(), n
}

// labelOperators are the operators of requirements about labels.
var labelOperators = map[metav1.LabelSelectorOperator]selection.Operator{
	metav1.LabelSelectorOpIn: selection.In, metav1.LabelSelectorOpNotIn: selection.NotIn,
	metav1.LabelSelectorOpExists: selection.Exists, metav1.LabelSelectorOpDoesNotExist: selection.DoesNotExist,
}

// selectedLabels reads the label selector of a review. No authorizer decides by labels, so there is nothing more to know of it.
func selectedLabels(s *authorizationv1.LabelSelectorAttributes) (n reading) {
	if s == nil {
		return n
	}
	if s.RawSelector != "" {
		if _, err := labels.Parse(s.RawSelector); err != nil {
			n.unread++
		}
		return n
	}
	for _, r := range s.Requirements {
		operator, isKnown := labelOperators[r.Operator]
		if _, err := labels.NewRequirement(r.Key, operator, r.Values); !isKnown || err != nil {
			n.unread++
			continue
		}
		n.read++
	}
	return n
}
