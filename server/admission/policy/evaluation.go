package policy

import (
	"context"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	views []*view
	authz authorizer.UnconditionalAuthorizer // caches decisions
}

// view is a request at an endpoint that policies see.
//
// Invariant: attributes has object in the form of the library.
type view struct {
	at         admission.Endpoint
	object     value.Value // after earlier mutations at this endpoint; absent if there is none
	old        value.Value // absent once it is in attributes, or if there is none
	attributes *kadmission.VersionedAttributes
	changed    bool // a mutation was evaluated, whether it changed something or not
}

// begin returns the evaluation of a request.
func (p *Policies) begin(q *admission.Request) *evaluation {
	return &evaluation{Policies: p, q: q, authz: admissionauthorizer.NewCachingAuthorizer(p.authorizer)}
}

// view returns the request at an endpoint. It converts the objects on the first call for the endpoint.
func (e *evaluation) view(at admission.Endpoint) (*view, error) {
	for _, v := range e.views {
		if v.at.Kind == at.Kind {
			return v, nil
		}
	}
	object, err := expressions.Shown(e.q, &e.q.Object, at)
	if err != nil {
		return nil, err
	}
	old, err := expressions.Shown(e.q, &e.q.Old, at)
	if err != nil {
		return nil, err
	}
	typed, err := expressions.Typed(object, e.q.Scope.New(at))
	if err != nil {
		return nil, err
	}
	v := &view{at: at, object: object, old: old}
	if v.attributes, err = expressions.Attributes(e.q, at.Kind, typed, nil); err != nil {
		return nil, err
	}
	e.views = append(e.views, v)
	return v, nil
}

// showOld gives a view the stored object in the form of the library, for expressions that may read it.
func (e *evaluation) showOld(v *view, c *compiled) error {
	if !c.readsOld || v.old.IsAbsent() {
		return nil
	}
	typed, err := expressions.Typed(v.old, e.q.Scope.New(v.at))
	if err != nil {
		return errors.NewInternalError(err)
	}
	v.attributes.VersionedOldObject.Set(typed)
	v.old = value.Value{}
	return nil
}

// namespace returns the namespace of a request for expressions, nil if none of them reads it or if the request has none. The error is the
// answer to the request.
func (e *evaluation) namespace(ctx context.Context, c *compiled) (*corev1.Namespace, error) {
	if !c.readsNamespace || e.q.Namespace == "" || e.q.Kind == namespaceKind {
		return nil, nil
	}
	object, err := e.config.Namespace(ctx, e.q.Namespace)
	if err != nil {
		return nil, errors.NewInternalError(err)
	}
	if object.IsAbsent() {
		return nil, errors.NewNotFound(match.Namespaces.GroupResource(), e.q.Namespace)
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
			params, err := e.paramsFor(ctx, p, b)
			if err != nil {
				out = append(out, invocation{policy: p, binding: b, err: fmt.Errorf("failed to configure binding: %w", err)})
			}
			for _, of := range params {
				out = append(out, invocation{policy: p, binding: b, at: at, param: of})
			}
		}
	}
	return out
}

// paramsFor returns the parameters of a binding, none if the binding does not match the request.
func (e *evaluation) paramsFor(ctx context.Context, p *policy, b *binding) ([]param, error) {
	if b.resources != nil {
		if _, ok, err := b.resources.match(ctx, e); err != nil || !ok {
			return nil, err
		}
	}
	return e.collect(ctx, p, b)
}

// request returns the variable request of expressions.
func (v *view) request(resource kschema.GroupVersionResource) *admissionv1.AdmissionRequest {
	return cel.CreateAdmissionRequest(v.attributes.Attributes, metav1.GroupVersionResource(resource), metav1.GroupVersionKind(v.at.Kind))
}
