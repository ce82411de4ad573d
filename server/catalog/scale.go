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

// Scale is the subresource scale of a version. It locates the desired and the current number of replicas.
type Scale struct {
	Spec, Status string // paths such as .spec.replicas
	Selector     string // path of a label selector as text; may be empty
	// SelectorOf computes the text of the selector. It is nil if the text is at Selector.
	SelectorOf func(object value.Value) (string, error)
	Manager    *managedfields.FieldManager
	// Requests decodes the Scales in requests.
	Requests *Version
	// Replicas holds, by apiVersion, the path of the desired number of replicas in each version of the resource.
	Replicas map[string]fieldpath.Path
}

// ScalePath parses a path such as .spec.replicas.
func ScalePath(path string) fieldpath.Path {
	var out fieldpath.Path
	for _, name := range names(path) {
		out = append(out, fieldpath.Field(name))
	}
	return out
}

func names(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }

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

// Validate returns the errors in the replicas and the selector of object. A nil scale has none.
func (s *Scale) Validate(object value.Value) field.ErrorList {
	if s == nil {
		return nil
	}
	return append(validateReplicas(object, s.Spec), s.ValidateStatus(object)...)
}

// ValidateStatus is Validate without the desired number of replicas.
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

// NewScale returns a Scale with the members that encoding the Go type would print.
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

// Of returns the Scale of an object, and whether the object states a desired number of replicas.
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

// WithReplicas returns object with n as its desired number of replicas. The error, in the words of kube-apiserver, is about a null above the
// replicas.
func (s *Scale) WithReplicas(object value.Value, n int64) (value.Value, error) {
	path := names(s.Spec)
	for i := 1; i < len(path); i++ {
		if object.Get(path[:i]...).IsNull() {
			return object, fmt.Errorf("value cannot be set because .%s is not a map[string]interface{}", strings.Join(path[:i], "."))
		}
	}
	return withNumber(object, path, n), nil
}

// withNumber returns v with n at path. It adds the objects on the way that v lacks.
func withNumber(v value.Value, path []string, n int64) value.Value {
	if len(path) == 0 {
		return value.Int(n)
	}
	return v.With(path[0], withNumber(v.Get(path[0]), path[1:], n))
}

// Lookup returns the value at a path of names separated by dots, such as spec.replicas; absent if there is none.
func Lookup(object value.Value, path string) value.Value { return object.Get(names(path)...) }
