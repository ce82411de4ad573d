package keywords

import (
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kube-openapi/pkg/validation/errors"

	"github.com/deed-project/deed/schema/structural"
	"github.com/deed-project/deed/server/api"
)

// fieldErrors returns errors of kube-openapi's validator about values below base as kube-apiserver reports them.
func fieldErrors(base *field.Path, errs []error) field.ErrorList {
	var out field.ErrorList
	for _, err := range errs {
		if about, ok := err.(*errors.Validation); ok {
			out = append(out, fieldError(base, about))
		} else {
			out = append(out, field.Invalid(base, "", err.Error())) // an alternative fails, and the text names the place
		}
	}
	return out
}

// fieldError returns an error about one value.
func fieldError(base *field.Path, err *errors.Validation) *field.Error {
	at := base
	if err.Name != "" && err.Name != "." {
		at = base.Child(strings.TrimPrefix(err.Name, "."))
	}
	wrong := err.Value
	if wrong == nil {
		wrong = ""
	}
	switch err.Code() {
	case errors.RequiredFailCode:
		return field.Required(at, "")
	case errors.EnumFailCode:
		return field.NotSupported(at, err.Value, enumTexts(err.Values))
	case errors.TooLongFailCode:
		return field.TooLong(at, "", numberIn(err.Valid))
	case errors.MaxItemsFailCode, errors.TooManyPropertiesCode:
		return field.TooMany(at, numberIn(err.Value), numberIn(err.Valid))
	case errors.InvalidTypeCode:
		return field.TypeInvalid(at, wrong, err.Error())
	}
	return field.Invalid(at, wrong, err.Error())
}

// Duplicates returns errors of the structure of an object, such as repeated items of sets, as kube-apiserver reports them.
func Duplicates(found []*structural.FieldError) field.ErrorList {
	var errs field.ErrorList
	for _, e := range found {
		typ := field.ErrorTypeInvalid
		switch e.Reason {
		case structural.More:
			errs = append(errs, api.More(e.Others))
			continue
		case structural.Duplicate:
			typ = field.ErrorTypeDuplicate
		}
		errs = append(errs, &field.Error{Type: typ, Field: e.Path, BadValue: e.Value.ToAny(), Detail: e.Detail})
	}
	return errs
}

// enumTexts returns the values of an enum as an error lists them: strings as they are, others as JSON.
func enumTexts(values []any) []string {
	out := make([]string, len(values))
	for i, v := range values {
		text, ok := v.(string)
		if !ok {
			encoded, _ := json.Marshal(v) // it was decoded from JSON
			text = string(encoded)
		}
		out[i] = text
	}
	return out
}

// numberIn returns a number of an error, or -1 if it has none.
func numberIn(v any) int {
	if n, ok := v.(int64); ok {
		return int(n)
	}
	return -1
}
