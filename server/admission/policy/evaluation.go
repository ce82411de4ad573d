package policy

import (
	"context"
	"fmt"
	"slices"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	kadmission "k8s.io/apiserver/pkg/admission"
	admissionauthorizer "k8s.io/apiserver/pkg/admission/plugin/authorizer"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/admission/expressions"
	"github.com/deed-project/deed/server/admission/match"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// evaluation is what the policies of one phase of a request share: the objects at the endpoints that policies see, and what is read once.
type evaluation struct {
	*Policies
	q     *admission.Request
	typed bool // expressions see the Go types of built-in kinds
	views []*view
	authz authorizer.UnconditionalAuthorizer // caches decisions; nil before the first call of authorizerFor
}

// authorizerFor returns the authorizer, or nil if the expressions do not read it.
func (e *evaluation) authorizerFor(u *usage) authorizer.UnconditionalAuthorizer {
	if !u.authorizer {
		return nil
	}
	if e.authz == nil {
		e.authz = admissionauthorizer.NewCachingAuthorizer(e.authorizer)
	}
	return e.authz
}

// view is a request at an endpoint that policies see.
//
// Invariant: attributes has the objects in the form of the library, and the options, if shown says so.
type view struct {
	at          admission.Endpoint
	object, old value.Value // object is after earlier mutations at this endpoint; absent if there is none
	entries     bool        // both have their managed fields
	attributes  *kadmission.VersionedAttributes
	shown       usage
	changed     bool // a mutation was evaluated, whether it changed something or not
	patched     bool // a mutation has made object; a patch whose test fails makes none
}

// begin returns the evaluation of a request.
func (p *Policies) begin(q *admission.Request) *evaluation {
	return &evaluation{Policies: p, q: q}
}

// view returns the request at an endpoint. It converts the objects on the first call for the endpoint, and on the first one with entries.
func (e *evaluation) view(at admission.Endpoint, entries bool) (v *view, err error) {
	for _, known := range e.views {
		if known.at.Kind == at.Kind {
			v = known
		}
	}
	if v != nil && (v.entries || !entries) {
		return v, nil
	}
	if v == nil {
		v = &view{at: at, attributes: expressions.Attributes(e.q, at.Kind, nil, nil, nil)}
	}
	v.shown.object, v.shown.old, v.entries = false, false, entries
	show := expressions.ShownContent
	if entries {
		show = expressions.Shown
	}
	if v.object, err = show(e.q, &e.q.Object, at); err != nil {
		return nil, err
	}
	if v.old, err = show(e.q, &e.q.Old, at); err != nil {
		return nil, err
	}
	if !slices.Contains(e.views, v) {
		e.views = append(e.views, v)
	}
	return v, nil
}

// show gives a view what expressions use.
func (e *evaluation) show(v *view, wanted *usage) error {
	if wanted.object && !v.shown.object {
		object, err := e.library(v, v.object)
		if err != nil {
			return err
		}
		v.attributes.VersionedObject.Set(object)
		v.shown.object = true
	}
	if wanted.old && !v.shown.old {
		old, err := e.library(v, v.old)
		if err != nil {
			return err
		}
		v.attributes.VersionedOldObject.Set(old)
		v.shown.old = true
	}
	if wanted.request && !v.shown.request {
		options, err := expressions.Options(e.q)
		if err != nil {
			return err
		}
		v.attributes.Attributes, v.shown.request = expressions.Attributes(e.q, v.at.Kind, nil, nil, options).Attributes, true
	}
	return nil
}

// library returns an object of a view in the form of the library, nil for none.
//
// Documents of a built-in kind are as their Go types make them, and cost less than these types. Two things need the types: mutations, which
// the library refuses to let copy parts of them, and what a subresource takes.
func (e *evaluation) library(v *view, object value.Value) (runtime.Object, error) {
	if e.typed || e.q.Subresource != "" {
		return expressions.Typed(object, e.q.Scope.New(v.at))
	}
	return expressions.Lazy(object, e.q.Scope.New(v.at)), nil
}

// checkNamespace returns the answer to a connection in a namespace that does not exist. Other requests in such a namespace do not come here.
func (e *evaluation) checkNamespace(ctx context.Context) error {
	if e.q.Operation != admission.Connect || e.q.Namespace == "" {
		return nil
	}
	_, err := e.stored(ctx)
	return err
}

// stored returns the namespace of a request. The error is the answer to the request.
func (e *evaluation) stored(ctx context.Context) (value.Value, error) {
	object, err := e.config.Namespace(ctx, e.q.Namespace)
	if err != nil {
		return object, errors.NewInternalError(err)
	}
	if object.IsAbsent() {
		return object, errors.NewNotFound(match.Namespaces.GroupResource(), e.q.Namespace)
	}
	return object, nil
}

// namespace returns the namespace of a request for expressions, nil if none of them reads it or if the request has none. The error is the
// answer to the request.
func (e *evaluation) namespace(ctx context.Context, c *compiled) (*corev1.Namespace, error) {
	if !c.used.namespace || e.q.Namespace == "" || e.q.Kind == namespaceKind {
		return nil, nil
	}
	object, err := e.stored(ctx)
	if err != nil {
		return nil, err
	}
	namespace := &corev1.Namespace{}
	if err := structs.Into(object, namespace); err != nil {
		return nil, errors.NewInternalError(err)
	}
	return namespace, nil
}

// invocation is a policy that a request meets by one of its bindings, with one parameter; or, if err is set, what is wrong with its
// configuration.
type invocation struct {
	policy  *policy
	binding *binding // nil if the policy itself is wrong
	at      admission.Endpoint
	param   param
	err     error
}

// invocations returns the invocations of a request: for each policy, for each of its bindings, for each parameter.
func (e *evaluation) invocations(ctx context.Context, candidates []*policy) (out []invocation) {
	for _, p := range candidates {
		at, ok, err := p.constraints.match(ctx, e)
		if err == nil && ok {
			err = e.checkParams(p)
		}
		if err != nil {
			out = append(out, invocation{policy: p, err: fmt.Errorf("failed to configure policy: %w", err)})
			continue
		}
		if !ok {
			continue
		}
		for _, b := range p.bindings {
			out = append(out, e.invocationsOf(ctx, p, b, at)...)
		}
	}
	return out
}

// invocationsOf returns the invocations of a policy by a binding, none if the binding does not match the request.
//
// Mutating policies need the converted objects before the parameters, and blame the policy if there are none.
func (e *evaluation) invocationsOf(ctx context.Context, p *policy, b *binding, at admission.Endpoint) (out []invocation) {
	matches := true
	var err error
	if b.resources != nil {
		_, matches, err = b.resources.match(ctx, e)
	}
	if err == nil && !matches {
		return nil
	}
	if err == nil && e.typed {
		if _, err := e.view(at, true); err != nil {
			return []invocation{{policy: p, err: fmt.Errorf("failed to configure policy: %w", err)}}
		}
	}
	var params []param
	if err == nil {
		params, err = e.collect(ctx, p, b)
	}
	if err != nil {
		return []invocation{{policy: p, binding: b, err: fmt.Errorf("failed to configure binding: %w", err)}}
	}
	for _, of := range params {
		out = append(out, invocation{policy: p, binding: b, at: at, param: of})
	}
	return out
}

// request returns the variable request of expressions, or nil if none reads it.
func (v *view) request(resource kschema.GroupVersionResource) *admissionv1.AdmissionRequest {
	if !v.shown.request {
		return nil
	}
	return cel.CreateAdmissionRequest(v.attributes.Attributes, metav1.GroupVersionResource(resource), metav1.GroupVersionKind(v.at.Kind))
}
