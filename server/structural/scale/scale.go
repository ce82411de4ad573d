// Package scale finds the replicas and the selector of custom resources with the subresource scale, and validates them.
package scale

import (
	"fmt"
	"math"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/value"
)

// Paths lead to what a Scale shows of an object, such as .spec.replicas.
type Paths struct {
	Spec, Status string // the desired and the current number of replicas
	Selector     string // a label selector as text; may be empty
}

// PathsIn returns the paths in a subresource scale, as a version of a CustomResourceDefinition describes it.
func PathsIn(subresource value.Value) Paths {
	text := func(name string) string { return subresource.Get(name).Str() }
	return Paths{text("specReplicasPath"), text("statusReplicasPath"), text("labelSelectorPath")}
}

// Validate returns the errors in the replicas and the selector of object.
func (p Paths) Validate(object value.Value) field.ErrorList {
	return append(validateReplicas(object, p.Spec), p.ValidateStatus(object)...)
}

// ValidateStatus is Validate without the desired number of replicas.
func (p Paths) ValidateStatus(object value.Value) field.ErrorList {
	errs := validateReplicas(object, p.Status)
	if p.Selector == "" {
		return errs
	}
	if text, err := Text(object, p.Selector); err != nil {
		errs = append(errs, field.Invalid(field.NewPath(p.Selector), text, err.Error()))
	}
	return errs
}

func validateReplicas(object value.Value, path string) field.ErrorList {
	n, _, err := Number(object, path)
	reason := ""
	switch {
	case err != nil:
		reason = err.Error()
	case n < 0:
		reason = "should be a non-negative integer"
	case n > math.MaxInt32:
		reason = fmt.Sprintf("should be less than or equal to %d", math.MaxInt32)
	default:
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath(path), n, reason)}
}

// Names splits a path into the names of members.
func Names(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }

// Number returns the integer at path, and whether there is a value. It returns an error if path leads to or through a value of another
// type.
func Number(object value.Value, path string) (n int64, found bool, err error) {
	v, err := nested(object, path)
	switch {
	case err != nil || v.IsAbsent():
		return 0, false, err
	case v.Kind() != value.KindInt:
		return 0, false, fmt.Errorf("%s accessor error: %v is of the type %[2]T, expected int64", path, v.ToAny())
	}
	return v.Int(), true, nil
}

// Text returns the string at path, "" if there is none. Its errors are those of [Number].
func Text(object value.Value, path string) (string, error) {
	v, err := nested(object, path)
	switch {
	case err != nil || v.IsAbsent():
		return "", err
	case v.Kind() != value.KindString:
		return "", fmt.Errorf("%s accessor error: %v is of the type %[2]T, expected string", path, v.ToAny())
	}
	return v.Str(), nil
}

// nested returns the value at path. The error names the first value on the way that is no object. Null counts as absent.
func nested(object value.Value, path string) (value.Value, error) {
	v := object
	for i, name := range Names(path) {
		if v.IsNull() || v.IsAbsent() {
			return value.Value{}, nil
		}
		if v.Kind() != value.KindObject {
			at := "." + strings.Join(Names(path)[:i+1], ".")
			return v, fmt.Errorf("%s accessor error: %v is of the type %[2]T, expected map[string]interface{}", at, v.ToAny())
		}
		v = v.Get(name)
	}
	return v, nil
}
