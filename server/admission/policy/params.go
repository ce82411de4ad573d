package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	registration "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/server/admission/expressions"
	"github.com/deed-project/deed/server/admission/match"
	"github.com/deed-project/deed/value"
)

// param is a parameter of a binding. The zero param is none: a policy or a binding without parameters is evaluated once with it.
type param struct {
	namespace, name string
	object          value.Value
	of              Params
}

// collect returns the parameters of a binding for a request. None means that the binding is passed over. The error is a configuration
// error.
func (e *evaluation) collect(ctx context.Context, p *policy, b *binding) ([]param, error) {
	ref := b.params
	if p.paramKind == nil || ref == nil {
		return []param{{}}, nil
	}
	of := e.paramsOf(p)
	if of == nil { // it was checked before
		return nil, fmt.Errorf("paramKind kind `%v` not known", p.paramKind)
	}
	namespace := ""
	switch {
	case of.Namespaced() && ref.Namespace != "":
		namespace = ref.Namespace
	case of.Namespaced() && e.q.Namespace == "":
		return nil, errors.New("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources")
	case of.Namespaced():
		namespace = e.q.Namespace
	case ref.Namespace != "":
		return nil, errors.New("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
	}
	found, err := e.find(ctx, of, namespace, ref)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 && ref.ParameterNotFoundAction != nil && *ref.ParameterNotFoundAction == registration.DenyAction {
		return nil, errors.New("no params found for policy binding with `Deny` parameterNotFoundAction")
	}
	return found, nil
}

// find returns the parameters that a binding names or selects, by namespace and name.
func (e *evaluation) find(ctx context.Context, of Params, namespace string, ref *registration.ParamRef) ([]param, error) {
	var objects []value.Value
	switch {
	case ref.Name != "":
		object, err := of.Get(ctx, namespace, ref.Name)
		if err != nil {
			return nil, err
		}
		if !object.IsAbsent() {
			objects = append(objects, object)
		}
	case ref.Selector != nil:
		selector, err := metav1.LabelSelectorAsSelector(ref.Selector)
		if err != nil {
			return nil, err
		}
		if objects, err = of.List(ctx, namespace); err != nil {
			return nil, err
		}
		objects = slices.DeleteFunc(objects, func(o value.Value) bool { return !selector.Matches(match.LabelsOf(o)) })
	default:
		return nil, errors.New("one of name or selector must be provided")
	}
	found := make([]param, len(objects))
	for i, o := range objects {
		found[i] = param{o.Get("metadata", "namespace").Str(), o.Get("metadata", "name").Str(), o, of}
	}
	slices.SortFunc(found, func(a, b param) int {
		return cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name))
	})
	return found, nil
}

// paramsOf returns the parameters of the kind that a policy names, or nil if the kind is not served.
func (e *evaluation) paramsOf(p *policy) Params {
	return e.config.Params(kschema.FromAPIVersionAndKind(p.paramKind.APIVersion, p.paramKind.Kind))
}

// checkParams returns an error if a policy names a kind of parameters that is not served.
func (e *evaluation) checkParams(p *policy) error {
	if p.paramKind == nil || e.paramsOf(p) != nil {
		return nil
	}
	return fmt.Errorf("failed to find resource referenced by paramKind: '%v'",
		kschema.FromAPIVersionAndKind(p.paramKind.APIVersion, p.paramKind.Kind))
}

// shown returns a parameter in the form of the library, or nil for none. Expressions see the apiVersion and kind of custom resources, and,
// in policies that validate, of all others: kube-apiserver has parameters of built-in kinds in Go types, which know neither. Policies that
// mutate see these types.
func (p param) shown(validating bool) (runtime.Object, error) {
	object := expressions.Unstructured(p.object)
	if object == nil {
		return nil, nil
	}
	into := p.of.New()
	switch {
	case into == nil:
		return object, nil
	case validating:
		return &typedParam{content: p.object}, nil
	}
	return expressions.Typed(p.object.With("apiVersion", value.Value{}).With("kind", value.Value{}), into)
}

// typedParam is a parameter of a built-in kind. The library reads it by ToUnstructured.
type typedParam struct {
	metav1.TypeMeta
	content value.Value
}

// ToUnstructured returns the object as the library reads it.
func (t *typedParam) ToUnstructured() any { return t.content.ToAny() }

// MarshalJSON returns the object as JSON.
func (t *typedParam) MarshalJSON() ([]byte, error) { return t.content.AppendJSON(nil), nil }

// DeepCopyObject returns a copy, which shares the immutable content.
func (t *typedParam) DeepCopyObject() runtime.Object {
	out := *t
	return &out
}
