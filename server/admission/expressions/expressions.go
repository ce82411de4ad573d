// Package expressions shows requests to the CEL library of kube-apiserver, k8s.io/apiserver/pkg/admission/plugin/cel. The library evaluates
// the match conditions of webhooks and all expressions of admission policies, on its own types.
//
//	[Attributes]  a request with its objects at an endpoint
//	[Authorizer]  answers expressions that check permissions
//
// Package cel has the environment in which expressions are compiled. Nothing of CEL is initialized before the first expression.
package expressions

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	kadmission "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/cel"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// Action is the action whose permission an expression checks.
type Action struct {
	Verb                                  string
	Group, Version, Resource, Subresource string
	Namespace, Name                       string
	FieldSelector                         string // as in a query; empty for everything
	Path                                  string // of a request that names no resource
}

// Authorize reports whether a user may perform an action. The reason explains a refusal.
type Authorize func(ctx context.Context, u admission.User, a Action) (allowed bool, reason string)

// Authorizer returns f in the form of the library.
func Authorizer(f Authorize) authorizer.UnconditionalAuthorizer { return decider{f} }

// decider adapts Authorize to the library's authorizer interface.
type decider struct{ authorize Authorize }

// Authorize returns the decision about the attributes.
//
// A refusal is "no opinion", as from most authorizers of kube-apiserver.
func (d decider) Authorize(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	u := admission.User{
		Name: a.GetUser().GetName(), UID: a.GetUser().GetUID(), Groups: a.GetUser().GetGroups(), Extra: a.GetUser().GetExtra(),
	}
	action := Action{Verb: a.GetVerb(), Path: a.GetPath()}
	if a.IsResourceRequest() {
		action = Action{
			Verb: a.GetVerb(), Group: a.GetAPIGroup(), Version: a.GetAPIVersion(), Resource: a.GetResource(),
			Subresource: a.GetSubresource(), Namespace: a.GetNamespace(), Name: a.GetName(),
		}
		if selected, err := a.GetFieldSelector(); err == nil { // one that cannot be read selects everything
			action.FieldSelector = selectorOf(selected)
		}
	}
	allowed, reason := d.authorize(ctx, u, action)
	if !allowed {
		return authorizer.DecisionNoOpinion, reason, nil
	}
	return authorizer.DecisionAllow, reason, nil
}

// selectorOf returns requirements as the text of a query.
func selectorOf(all fields.Requirements) string {
	var terms []fields.Selector
	for _, r := range all {
		if r.Operator == selection.NotEquals {
			terms = append(terms, fields.OneTermNotEqualSelector(r.Field, r.Value))
		} else {
			terms = append(terms, fields.OneTermEqualSelector(r.Field, r.Value))
		}
	}
	return fields.AndSelectors(terms...).String()
}

// Attributes returns a request with its objects and its options in the form of the library. The objects are of the given kind. What is nil is
// absent, for expressions that do not read it.
//
// The library wants the objects in two places.
func Attributes(q *admission.Request, kind kschema.GroupVersionKind, object, old, options runtime.Object) *kadmission.VersionedAttributes {
	record := kadmission.NewAttributesRecord(object, old, q.Kind, q.Namespace, q.Name, q.Resource, q.Subresource,
		kadmission.Operation(q.Operation), options, q.DryRun,
		&user.DefaultInfo{Name: q.User.Name, UID: q.User.UID, Groups: q.User.Groups, Extra: q.User.Extra})
	out := &kadmission.VersionedAttributes{Attributes: record, VersionedKind: kind}
	if object != nil {
		out.VersionedObject.Set(object)
	}
	if old != nil {
		out.VersionedOldObject.Set(old)
	}
	return out
}

// Unstructured returns an object in the form of the library, or nil for an absent one.
func Unstructured(v value.Value) runtime.Object {
	content, isObject := v.ToAny().(map[string]any)
	if !isObject {
		return nil
	}
	return &unstructured.Unstructured{Object: content}
}

// Lazy returns an object in the form of the library, or nil for an absent one; into is an empty object of its Go type, nil for none. A member
// of it is a value of CEL, which is converted when an expression reads it, see [cel.NewValue] and [cel.NewTyped]. Nothing but expressions can
// read the object, and one evaluation at a time.
func Lazy(v value.Value, into any) runtime.Object {
	if v.Kind() != value.KindObject {
		return nil
	}
	if into != nil {
		return &lazy{content: v, into: into}
	}
	content := make(map[string]any, v.Len())
	for name, member := range v.Members() {
		content[name] = cel.NewValue(member)
	}
	return &unstructured.Unstructured{Object: content}
}

// lazy is an object of a Go type. The library reads it by ToUnstructured.
type lazy struct {
	metav1.TypeMeta
	content value.Value
	into    any
}

// ToUnstructured returns the object as a value of CEL.
func (l *lazy) ToUnstructured() any {
	return cel.NewTyped(l.content, func() (any, error) { return l.into, structs.Into(l.content, l.into) })
}

// MarshalJSON returns the object as JSON.
func (l *lazy) MarshalJSON() ([]byte, error) { return l.content.AppendJSON(nil), nil }

// DeepCopyObject returns a copy, which shares the immutable content.
func (l *lazy) DeepCopyObject() runtime.Object {
	out := *l
	return &out
}

// Typed returns an object in its Go type; into is an empty object of the type. Without a type, or for an absent object, it is
// [Unstructured].
func Typed(v value.Value, into any) (runtime.Object, error) {
	if v.IsAbsent() || into == nil {
		return Unstructured(v), nil
	}
	object, ok := into.(runtime.Object)
	if !ok {
		return nil, fmt.Errorf("%T is no object of Kubernetes", into)
	}
	return object, structs.Into(v, into)
}

// Shown returns an object of a request with its managed fields, converted to an endpoint. It is absent if the request has none.
func Shown(q *admission.Request, o *admission.Object, at admission.Endpoint) (value.Value, error) {
	document, err := o.Document()
	if err != nil {
		return document, err
	}
	return shown(q, document, at)
}

// ShownContent is [Shown], without the managed fields or with them, whichever costs less.
func ShownContent(q *admission.Request, o *admission.Object, at admission.Endpoint) (value.Value, error) {
	return shown(q, o.Content(), at)
}

func shown(q *admission.Request, object value.Value, at admission.Endpoint) (value.Value, error) {
	if object.IsAbsent() {
		return object, nil
	}
	object, err := q.Scope.Convert(object, q.Endpoint, at)
	apiVersion := at.Kind.GroupVersion().String()
	if object.Get("apiVersion").Str() != apiVersion || object.Get("kind").Str() != at.Kind.Kind {
		object = object.With("apiVersion", value.String(apiVersion)).With("kind", value.String(at.Kind.Kind))
	}
	return object, err
}

// Options returns the options of a request in their Go type. They are nil for a connection, which has none.
func Options(q *admission.Request) (runtime.Object, error) {
	var options runtime.Object
	switch q.Operation {
	case admission.Connect:
		return nil, nil
	case admission.Create:
		options = &metav1.CreateOptions{}
	case admission.Update:
		options = &metav1.UpdateOptions{}
	default:
		options = &metav1.DeleteOptions{}
	}
	return options, structs.Into(q.Scope.Options(), options)
}
