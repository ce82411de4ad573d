package catalog

import (
	"fmt"
	"math"
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// ScaleKind is the kind of the objects of the subresource scale.
var ScaleKind = schema.GVK{Group: "autoscaling", Version: "v1", Kind: "Scale"}

// EmptyScale returns an empty object of the Go type of [ScaleKind].
func EmptyScale() any { return &autoscalingv1.Scale{} }

// Scale is the subresource scale of a version: where an object says how many replicas it wants and has.
type Scale struct {
	Spec, Status string // paths such as .spec.replicas
	Selector     string // a path to the text of a label selector; may be empty
	// SelectorOf returns the text of the selector where an object has no text of it; nil for objects that do.
	SelectorOf func(object value.Value) (string, error)
	Manager    *managedfields.FieldManager
	// Sent is what reads the Scales that are sent to it.
	Sent *Version
	// Replicas has, by apiVersion, where each version of the resource says how many replicas it wants.
	Replicas map[string]fieldpath.Path
}

// ScalePath returns the fields that a path such as .spec.replicas leads through.
func ScalePath(path string) fieldpath.Path {
	var out fieldpath.Path
	for _, name := range names(path) {
		out = append(out, fieldpath.Field(name))
	}
	return out
}

func names(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }

// Number returns the integer that object has at path, and whether there is a value. The error is about a value of another kind
// there or on the way.
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

// Text returns the string that object has at path, "" if there is none. The error is as that of [Number].
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

// nested returns what object has at path. The error names the first value on the way that is no object; null is as good as
// nothing.
func nested(object value.Value, path string) (value.Value, error) {
	v := object
	for i, name := range names(path) {
		if v.IsNull() || v.IsAbsent() {
			return value.Value{}, nil
		}
		if v.Kind() != value.KindObject {
			at := "." + strings.Join(names(path)[:i+1], ".")
			return v, fmt.Errorf("%s accessor error: %v is of the type %[2]T, expected map[string]interface{}", at, v.ToAny())
		}
		v = v.Get(name)
	}
	return v, nil
}

// Validate returns what is wrong with the numbers of replicas and the selector of object. A nil scale finds nothing.
func (s *Scale) Validate(object value.Value) field.ErrorList {
	if s == nil {
		return nil
	}
	return append(validateReplicas(object, s.Spec), s.ValidateStatus(object)...)
}

// ValidateStatus is Validate for what the status says.
func (s *Scale) ValidateStatus(object value.Value) field.ErrorList {
	if s == nil {
		return nil
	}
	errs := validateReplicas(object, s.Status)
	if s.Selector == "" {
		return errs
	}
	if text, err := Text(object, s.Selector); err != nil {
		errs = append(errs, field.Invalid(field.NewPath(s.Selector), text, err.Error()))
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

// NewScale returns a Scale as the server's own type prints it.
func NewScale(metadata value.Value, spec, status int64, selector string) value.Value {
	wanted, has := value.Object(), value.Object(value.Member{Name: "replicas", Value: value.Int(status)})
	if spec != 0 {
		wanted = wanted.With("replicas", value.Int(spec))
	}
	if selector != "" {
		has = has.With("selector", value.String(selector))
	}
	return value.Object(
		value.Member{Name: "apiVersion", Value: value.String(ScaleKind.APIVersion())},
		value.Member{Name: "kind", Value: value.String(ScaleKind.Kind)},
		value.Member{Name: "metadata", Value: metadata},
		value.Member{Name: "spec", Value: wanted},
		value.Member{Name: "status", Value: has},
	)
}

// Of returns the Scale of an object, and whether the object says how many replicas it wants.
func (s *Scale) Of(object value.Value) (scale value.Value, wanted bool, err error) {
	spec, wanted, err := Number(object, s.Spec)
	if err != nil {
		return scale, wanted, err
	}
	status, _, err := Number(object, s.Status)
	if err != nil {
		return scale, wanted, err
	}
	selector, err := s.selector(object)
	if err != nil {
		return scale, wanted, err
	}
	metadata := value.Object()
	for _, name := range []string{"name", "namespace", "uid", "resourceVersion", "creationTimestamp"} {
		metadata = metadata.With(name, object.Get("metadata", name))
	}
	return NewScale(metadata, spec, status, selector), wanted, nil
}

func (s *Scale) selector(object value.Value) (string, error) {
	switch {
	case s.SelectorOf != nil:
		return s.SelectorOf(object)
	case s.Selector != "":
		return Text(object, s.Selector)
	}
	return "", nil
}

// WithReplicas returns object with the number of replicas that it wants.
func (s *Scale) WithReplicas(object value.Value, n int64) value.Value {
	return withNumber(object, names(s.Spec), n)
}

func withNumber(v value.Value, path []string, n int64) value.Value {
	if len(path) == 0 {
		return value.Int(n)
	}
	return v.With(path[0], withNumber(v.Get(path[0]), path[1:], n))
}

// Lookup returns what object has at a path of names with dots between them, such as spec.replicas; absent if it has nothing there.
func Lookup(object value.Value, path string) value.Value { return object.Get(names(path)...) }
