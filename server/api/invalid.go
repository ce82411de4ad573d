package api

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Invalid returns what errors.NewInvalid returns: the error, with 422, that an object is refused with for what is wrong with it. Its cost
// grows with the length of its text. That of the library grows with the square: thousands of errors took it seconds.
func Invalid(kind schema.GroupKind, name string, errs field.ErrorList) *errors.StatusError {
	out := errors.NewInvalid(kind, name, nil)
	said, texts := make(map[string]bool, len(errs)), make([]string, 0, len(errs))
	for _, e := range errs {
		out.ErrStatus.Details.Causes = append(out.ErrStatus.Details.Causes, metav1.StatusCause{
			Type: metav1.CauseType(e.Type), Message: e.ErrorBody(), Field: e.Field,
		})
		if text := e.Error(); !said[text] {
			said[text] = true
			texts = append(texts, text)
		}
	}
	switch len(texts) {
	case 0:
	case 1:
		out.ErrStatus.Message += ": " + texts[0]
	default:
		out.ErrStatus.Message += ": [" + strings.Join(texts, ", ") + "]"
	}
	return out
}

// Unique returns errs, each once.
func Unique(errs field.ErrorList) field.ErrorList {
	said := make(map[string]bool, len(errs))
	var out field.ErrorList
	for _, e := range errs {
		if text := e.Error(); !said[text] {
			said[text] = true
			out = append(out, e)
		}
	}
	return out
}
