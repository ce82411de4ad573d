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

// Which hooks a request is sent to. The questions, from the cheapest to the most expensive:
//
//	candidates    do the rules match?            cached for all requests of a kind
//	inNamespace   does the namespace match?      looks up the namespace
//	selects       do the labels match?           of the new or the old object
//	meets         do the conditions match?       converts the object and evaluates CEL
//
// The object is the one after earlier hooks, so a mutating hook can bring a later one into play.

// rule is a compiled rule of a hook.
type rule struct {
	operations       []string
	groups, versions []string
	resources        []resourceRule
	scope            registration.ScopeType
}

// resourceRule names a resource and a subresource. A star matches every name; an empty subresource matches the resource itself.
type resourceRule struct{ resource, subresource string }

// compileRule compiles a rule. "pods/status" names a subresource, and "pods" the resource alone.
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

// matches reports whether the rule matches the request if its resource were the given one.
func (r *rule) matches(q *admission.Request, resource kschema.GroupVersionResource) bool {
	return r.inScope(q) && oneOf(r.operations, string(q.Operation)) && oneOf(r.groups, resource.Group) &&
		oneOf(r.versions, resource.Version) &&
		slices.ContainsFunc(r.resources, func(n resourceRule) bool {
			return (n.resource == "*" || n.resource == resource.Resource) && (n.subresource == "*" || n.subresource == q.Subresource)
		})
}

// inScope reports whether the scope of the rule includes the request. Namespace objects are cluster-scoped, although their requests carry
// their own name as namespace.
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

// oneOf reports whether names has a name or a star.
func oneOf(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return n == "*" || n == name })
}

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

// requestKind is the key of the candidate cache. It holds everything that rules depend on, so that requests with equal keys have equal
// candidates.
//
// served stands for the resource and its version, and for all versions that are equivalent.
type requestKind struct {
	served      any // see [admission.Scope]
	operation   admission.Operation
	subresource string
	namespaced  bool
}

// candidate is a hook whose rules match one requestKind.
type candidate struct {
	*Hook
	index int                 // its index among all hooks
	at    *admission.Endpoint // the endpoint that the hook sees; nil for the endpoint of the request
}

// maxKinds bounds the candidate cache of a list. The bound matters only if definitions come and go.
const maxKinds = 4096

// candidates returns the hooks whose rules match a request, in order. Rules are evaluated only for the first request of a requestKind;
// later requests take one cache lookup.
//
// The outcome is shared and must not be modified. Several first requests of a kind may find it at the same time.
func (l *list) candidates(q *admission.Request) []candidate {
	if len(l.hooks) == 0 || exempt(q) {
		return nil
	}
	kind := requestKind{q.Scope.Served(), q.Operation, q.Subresource, q.Namespace != ""}
	l.mu.RLock()
	found, known := l.byKind[kind]
	l.mu.RUnlock()
	if known {
		return found
	}
	for i, h := range l.hooks {
		if at, ok := h.endpoint(q); ok {
			found = append(found, candidate{h, i, at})
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byKind == nil || len(l.byKind) >= maxKinds {
		l.byKind = map[requestKind][]candidate{}
	}
	l.byKind[kind] = found
	return found
}

// endpoint returns the endpoint at which a hook sees a request, and whether any rule matches. It is nil if a rule matches the endpoint of
// the request. Otherwise it is the first equivalent endpoint that a rule matches.
//
// The order matters where several match: rules first, then endpoints in the order in which they are declared.
func (h *Hook) endpoint(q *admission.Request) (at *admission.Endpoint, ok bool) {
	for i := range h.rules {
		if h.rules[i].matches(q, q.Resource) {
			return nil, true
		}
	}
	if !h.equivalent {
		return nil, false
	}
	for i := range h.rules {
		for _, other := range q.Scope.Equivalents() {
			if h.rules[i].matches(q, other.Resource) {
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
func (p *Hooks) inNamespace(ctx context.Context, h *Hook, q *admission.Request, current *state) (bool, error) {
	if h.namespaces == nil || q.Namespace == "" && q.Resource != namespaces {
		return true, nil
	}
	if q.Resource == namespaces && q.Subresource == "" && (q.Operation == admission.Create || q.Operation == admission.Update) {
		return h.namespaces.Matches(current.labels(q)), nil
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

// labelSet implements labels.Labels on the labels of an object.
type labelSet struct{ names value.Value }

// labelsOf returns the labels of an object, or nil if there is no object.
func labelsOf(object value.Value) labels.Labels {
	if object.IsAbsent() {
		return nil
	}
	return labelSet{object.Get("metadata", "labels")}
}

// Has reports whether the label exists.
func (l labelSet) Has(name string) bool { return l.names.Get(name).Kind() == value.KindString }

// Get returns the value of a label, or "" if it does not exist.
func (l labelSet) Get(name string) string { return l.names.Get(name).Str() }

// Lookup returns the value of a label, and whether it exists.
func (l labelSet) Lookup(name string) (string, bool) { return l.Get(name), l.Has(name) }
