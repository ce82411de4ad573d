package webhook

import (
	"context"

	registration "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/admission/match"
)

// Which hooks a request is sent to. The questions, from the cheapest to the most expensive:
//
//	candidates    do the rules match?            cached for all requests of a kind
//	inNamespace   does the namespace match?      looks up the namespace
//	selects       do the labels match?           of the new or the old object
//	meets         do the conditions match?       converts the object and evaluates CEL
//
// The object is the one after earlier hooks, so a mutating hook can bring a later one into play.

// exempt reports whether a request bypasses all hooks. Hook configurations do, because a broken hook could otherwise block its own repair.
func exempt(q *admission.Request) bool {
	if q.Resource.Group != registration.GroupName {
		return false
	}
	switch q.Resource.Resource {
	case "validatingwebhookconfigurations", "mutatingwebhookconfigurations", "validatingadmissionpolicies",
		"validatingadmissionpolicybindings", "mutatingadmissionpolicies", "mutatingadmissionpolicybindings":
		return true
	}
	return false
}

// candidate is a hook whose rules match a request.
type candidate struct {
	*Hook
	index int                 // its index among all hooks
	at    *admission.Endpoint // the endpoint that the hook sees; nil for the endpoint of the request
}

// candidates returns the hooks whose rules match a request, in order. Rules are evaluated only for the first request of its kind; later
// requests take one cache lookup.
//
// The outcome is shared and must not be modified.
func (l *list) candidates(q *admission.Request) []candidate {
	if len(l.hooks) == 0 || exempt(q) {
		return nil
	}
	return l.known.Get(q, func() (found []candidate) {
		for i, h := range l.hooks {
			if at, ok := h.endpoint(q); ok {
				found = append(found, candidate{h, i, at})
			}
		}
		return found
	})
}

// endpoint returns the endpoint at which a hook sees a request, and whether any rule matches. It is nil if a rule matches the endpoint of
// the request. Otherwise it is the first equivalent endpoint that a rule matches.
//
// The order matters where several match: rules first, then endpoints in the order in which they are declared.
func (h *Hook) endpoint(q *admission.Request) (at *admission.Endpoint, ok bool) {
	for i := range h.rules {
		if h.rules[i].Matches(q, q.Resource) {
			return nil, true
		}
	}
	if !h.equivalent {
		return nil, false
	}
	for i := range h.rules {
		for _, other := range q.Scope.Equivalents() {
			if h.rules[i].Matches(q, other.Resource) {
				return &other, true
			}
		}
	}
	return nil, false
}

// match returns the endpoint at which a candidate sees a request, or nil if the hook is not called. current is the object after earlier
// hooks.
//
// kube-apiserver evaluates the rules last and drops earlier errors if no rule matches. match evaluates the rules first, which gives the
// same answers.
func (p *Hooks) match(ctx context.Context, c candidate, q *admission.Request, current *state) (*admission.Endpoint, error) {
	in, err := p.inNamespace(ctx, c.Hook, q, current)
	// An error with the namespace counts only if the labels match: otherwise the hook is not called anyway.
	if err == nil && !in || !c.selects(q, current) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	at := c.at
	if at == nil {
		at = &q.Endpoint
	}
	if c.conditions == nil {
		return at, nil
	}
	met, err := p.meets(ctx, c.Hook, q, current, *at)
	if err != nil || !met {
		return nil, err
	}
	return at, nil
}

// inNamespace reports whether the namespace selector of a hook matches the request.
//
// A request about a namespace that it creates or changes has the labels that it will have. A request in a namespace has the stored labels.
// Any resource with the name namespaces counts as that of namespaces.
func (p *Hooks) inNamespace(ctx context.Context, h *Hook, q *admission.Request, current *state) (bool, error) {
	isNamespace := q.Resource.Resource == match.Namespaces.Resource
	if h.namespaces == nil || q.Namespace == "" && !isNamespace {
		return true, nil
	}
	if isNamespace && q.Subresource == "" && (q.Operation == admission.Create || q.Operation == admission.Update) {
		return h.namespaces.Matches(current.labels(q)), nil
	}
	name := q.Namespace
	namespace, err := p.namespace(ctx, name)
	if err != nil {
		return false, errors.NewInternalError(err)
	}
	if namespace.IsAbsent() {
		return false, errors.NewNotFound(match.Namespaces.GroupResource(), name)
	}
	return h.namespaces.Matches(match.LabelsOf(namespace)), nil
}

// selects reports whether the object selector of a hook matches the new or the old object.
//
// So a hook also sees an update that takes an object out of its selection.
func (h *Hook) selects(q *admission.Request, current *state) bool {
	if h.objects == nil {
		return true
	}
	return h.selectsObject(current.labels(q)) || h.selectsObject(current.oldLabels(q))
}

// selectsObject reports whether the object selector matches the given labels. Nil labels mean no object and never match.
func (h *Hook) selectsObject(l labels.Labels) bool { return l != nil && h.objects.Matches(l) }
