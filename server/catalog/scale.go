package catalog

import (
	"fmt"
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/server/structural/scale"
	"github.com/deed-project/deed/value"
)

// ScaleKind is the kind of the objects of the subresource scale.
var ScaleKind = schema.GVK{Group: "autoscaling", Version: "v1", Kind: "Scale"}

// EmptyScale returns an empty object of the Go type of [ScaleKind].
func EmptyScale() any { return &autoscalingv1.Scale{} }

// Scale is the subresource scale of a version. It locates the desired and the current number of replicas.
type Scale struct {
	scale.Paths
	// SelectorOf computes the text of the selector. It is nil if the text is at Paths.Selector.
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
	for _, name := range scale.Names(path) {
		out = append(out, fieldpath.Field(name))
	}
	return out
}

// Validate returns the errors in the replicas and the selector of object. A nil scale has none.
func (s *Scale) Validate(object value.Value) field.ErrorList {
	if s == nil {
		return nil
	}
	return s.Paths.Validate(object)
}

// ValidateStatus is Validate without the desired number of replicas.
func (s *Scale) ValidateStatus(object value.Value) field.ErrorList {
	if s == nil {
		return nil
	}
	return s.Paths.ValidateStatus(object)
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
func (s *Scale) Of(object value.Value) (shown value.Value, wanted bool, err error) {
	spec, wanted, err := scale.Number(object, s.Spec)
	if err != nil {
		return shown, wanted, err
	}
	status, _, err := scale.Number(object, s.Status)
	if err != nil {
		return shown, wanted, err
	}
	selector, err := s.selector(object)
	if err != nil {
		return shown, wanted, err
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
		return scale.Text(object, s.Selector)
	}
	return "", nil
}

// WithReplicas returns object with n as its desired number of replicas. The error, in the words of kube-apiserver, is about a null above the
// replicas.
func (s *Scale) WithReplicas(object value.Value, n int64) (value.Value, error) {
	path := scale.Names(s.Spec)
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
func Lookup(object value.Value, path string) value.Value { return object.Get(scale.Names(path)...) }
