package webhook

import (
	"context"
	"slices"
	"strings"

	registration "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/value"
)

// rule is a rule of a hook.
type rule struct {
	operations       []string
	groups, versions []string
	resources        []resourceRule
	scope            registration.ScopeType
}

// resourceRule names a resource and a subresource; a star stands for any, and no subresource for the resource itself.
type resourceRule struct{ resource, subresource string }

func compileRule(r registration.RuleWithOperations) rule {
	out := rule{groups: r.APIGroups, versions: r.APIVersions, scope: registration.AllScopes}
	if r.Scope != nil {
		out.scope = *r.Scope
	}
	for _, o := range r.Operations {
		out.operations = append(out.operations, string(o))
	}
	for _, name := range r.Resources {
		resource, subresource, _ := strings.Cut(name, "/")
		out.resources = append(out.resources, resourceRule{resource, subresource})
	}
	return out
}

// matches reports whether the rule is for a request, if that were for the given resource.
func (r *rule) matches(q *admission.Request, resource kschema.GroupVersionResource) bool {
	return r.inScope(q) && oneOf(r.operations, string(q.Operation)) && oneOf(r.groups, resource.Group) &&
		oneOf(r.versions, resource.Version) &&
		slices.ContainsFunc(r.resources, func(n resourceRule) bool {
			return (n.resource == "*" || n.resource == resource.Resource) && (n.subresource == "*" || n.subresource == q.Subresource)
		})
}

// inScope reports whether the scope of the rule is that of the request. Namespaces are of the cluster, though requests for them are
// in the namespace that they name.
func (r *rule) inScope(q *admission.Request) bool {
	namespaced := q.Namespace != "" && q.Resource != namespaces
	switch r.scope {
	case registration.AllScopes:
		return true
	case registration.NamespacedScope:
		return namespaced
	case registration.ClusterScope:
		return !namespaced
	}
	return false
}

var namespaces = kschema.GroupVersionResource{Version: "v1", Resource: "namespaces"}

func oneOf(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return n == "*" || n == name })
}

// exempt reports whether no hook is asked about a request: what configures admission must not be able to lock itself.
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

// endpoint returns where a hook is told that a request writes: where it does, or, if no rule is for that, where the first rule is
// for the same objects. It returns nil if no rule is for the request.
func (h *Hook) endpoint(q *admission.Request) *admission.Endpoint {
	for i := range h.rules {
		if h.rules[i].matches(q, q.Resource) {
			return &q.Endpoint
		}
	}
	if !h.equivalent {
		return nil
	}
	for i := range h.rules {
		if !h.rules[i].inScope(q) || !oneOf(h.rules[i].operations, string(q.Operation)) {
			continue
		}
		for _, other := range q.Scope.Equivalents() {
			if h.rules[i].matches(q, other.Resource) {
				return &other
			}
		}
	}
	return nil
}

// match returns where a hook is told that a request writes, and nil if it is not told. current is the object as it is by now.
//
// The order of the questions is not that of kube-apiserver, which asks for the rules last, but the answers are: it forgets what
// goes wrong before, if no rule is for the request.
func (p *Hooks) match(ctx context.Context, h *Hook, q *admission.Request, current *state) (*admission.Endpoint, error) {
	at := h.endpoint(q)
	if at == nil {
		return nil, nil
	}
	in, err := p.inNamespace(ctx, h, q, current)
	if err == nil && !in {
		return nil, nil
	}
	if !h.selects(q, current) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if h.conditions == nil {
		return at, nil
	}
	met, err := p.meets(ctx, h, q, current, *at)
	if err != nil || !met {
		return nil, err
	}
	return at, nil
}

// inNamespace reports whether the namespace selector of a hook is for a request.
func (p *Hooks) inNamespace(ctx context.Context, h *Hook, q *admission.Request, current *state) (bool, error) {
	if h.namespaces == nil || q.Namespace == "" && q.Resource != namespaces {
		return true, nil
	}
	if q.Resource == namespaces && q.Subresource == "" && (q.Operation == admission.Create || q.Operation == admission.Update) {
		return h.namespaces.Matches(labelsOf(current.content(q))), nil
	}
	name := q.Namespace
	namespace, err := p.namespace(ctx, name)
	if err != nil {
		return false, errors.NewInternalError(err)
	}
	if namespace.IsAbsent() {
		return false, errors.NewNotFound(namespaces.GroupResource(), name)
	}
	return h.namespaces.Matches(labelsOf(namespace)), nil
}

// selects reports whether the object selector of a hook is for a request: for what is written, or for what is there.
func (h *Hook) selects(q *admission.Request, current *state) bool {
	if h.objects == nil {
		return true
	}
	return h.selectsObject(current.content(q)) || h.selectsObject(q.Old.Content())
}

func (h *Hook) selectsObject(object value.Value) bool {
	return !object.IsAbsent() && h.objects.Matches(labelsOf(object))
}

// labelSet is the labels of an object: labels.Labels.
type labelSet struct{ names value.Value }

func labelsOf(object value.Value) labels.Labels { return labelSet{object.Get("metadata", "labels")} }

// Has reports whether there is a label.
func (l labelSet) Has(name string) bool { return l.names.Get(name).Kind() == value.KindString }

// Get returns a label, "" if there is none.
func (l labelSet) Get(name string) string { return l.names.Get(name).Str() }

// Lookup returns a label, and whether there is one.
func (l labelSet) Lookup(name string) (string, bool) { return l.Get(name), l.Has(name) }
