package policy

import (
	"context"
	"slices"

	registration "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/admission/match"
)

// resources decides which requests a policy or a binding matches. It is immutable.
//
// A request matches if a rule includes it, no rule excludes it, and both selectors select it. No rules include everything.
type resources struct {
	rules, excluded []match.Rule
	equivalent      bool // rules also match the other versions of the resources that they name
	// nil selects everything.
	namespaces, objects labels.Selector
}

// compileResources compiles the resources that a policy or a binding matches.
func compileResources(m *registration.MatchResources) (r resources, err error) {
	r.equivalent = m.MatchPolicy != nil && *m.MatchPolicy == registration.Equivalent
	for _, named := range m.ResourceRules {
		r.rules = append(r.rules, match.CompileRule(named.RuleWithOperations, named.ResourceNames...))
	}
	for _, named := range m.ExcludeResourceRules {
		r.excluded = append(r.excluded, match.CompileRule(named.RuleWithOperations, named.ResourceNames...))
	}
	if r.namespaces, err = match.Selector(m.NamespaceSelector); err == nil {
		r.objects, err = match.Selector(m.ObjectSelector)
	}
	return r, err
}

// exempt reports whether a request bypasses all policies: policies could block their own repair, and reviews those of the cluster.
func exempt(q *admission.Request) bool {
	switch q.Resource.Group {
	case registration.GroupName:
		switch q.Resource.Resource {
		case "validatingadmissionpolicies", "validatingadmissionpolicybindings", "mutatingadmissionpolicies", "mutatingadmissionpolicybindings":
			return true
		}
	case "authentication.k8s.io":
		return q.Resource.Resource == "selfsubjectreviews" || q.Resource.Resource == "tokenreviews"
	case "authorization.k8s.io":
		switch q.Resource.Resource {
		case "localsubjectaccessreviews", "selfsubjectaccessreviews", "selfsubjectrulesreviews", "subjectaccessreviews":
			return true
		}
	}
	return false
}

// mayMatch reports whether a rule matches a request, its name and what is excluded aside.
func (r *resources) mayMatch(q *admission.Request) bool {
	if len(r.rules) == 0 {
		return true
	}
	return slices.ContainsFunc(r.rules, func(rule match.Rule) bool {
		return rule.Matches(q, q.Resource) || r.equivalent && slices.ContainsFunc(q.Scope.Equivalents(), func(e admission.Endpoint) bool {
			return rule.Matches(q, e.Resource)
		})
	})
}

// match returns the endpoint at which a request is seen, and whether it matches. The error says that the namespace of the request cannot
// be read, and counts only if everything else matches.
func (r *resources) match(ctx context.Context, e *evaluation) (at admission.Endpoint, ok bool, err error) {
	q := e.q
	at = q.Endpoint
	if len(r.rules) > 0 {
		if at, ok = r.endpoint(q, r.rules); !ok {
			return at, false, nil
		}
	}
	if _, isExcluded := r.endpoint(q, r.excluded); isExcluded || !r.selects(q) {
		return at, false, nil
	}
	ok, err = r.inNamespace(ctx, e)
	return at, ok, err
}

// endpoint returns the endpoint of the first rule that matches: that of the request if any rule matches it there, or else an equivalent one.
func (r *resources) endpoint(q *admission.Request, rules []match.Rule) (admission.Endpoint, bool) {
	for i := range rules {
		if rules[i].Matches(q, q.Resource) && rules[i].Names(q) {
			return q.Endpoint, true
		}
	}
	if !r.equivalent || len(rules) == 0 {
		return admission.Endpoint{}, false
	}
	for i := range rules {
		for _, other := range q.Scope.Equivalents() {
			if rules[i].Matches(q, other.Resource) && rules[i].Names(q) {
				return other, true
			}
		}
	}
	return admission.Endpoint{}, false
}

// selects reports whether the object selector selects the new or the old object.
func (r *resources) selects(q *admission.Request) bool {
	if r.objects == nil {
		return true
	}
	is, was := match.LabelsOf(q.Object.Content()), match.LabelsOf(q.Old.Content())
	return is != nil && r.objects.Matches(is) || was != nil && r.objects.Matches(was)
}

// inNamespace reports whether the namespace selector selects the namespace of a request.
//
// A request about a namespace that it creates or changes has the labels that it will have. The selector of a request without a namespace
// selects everything.
func (r *resources) inNamespace(ctx context.Context, e *evaluation) (bool, error) {
	q := e.q
	isNamespace := q.Resource.Resource == match.Namespaces.Resource
	if r.namespaces == nil || q.Namespace == "" && !isNamespace {
		return true, nil
	}
	if isNamespace && q.Subresource == "" && (q.Operation == admission.Create || q.Operation == admission.Update) {
		is := match.LabelsOf(q.Object.Content())
		return is != nil && r.namespaces.Matches(is), nil
	}
	namespace, err := e.config.Namespace(ctx, q.Namespace)
	if err != nil {
		return false, errors.NewInternalError(err)
	}
	if namespace.IsAbsent() {
		return false, errors.NewNotFound(match.Namespaces.GroupResource(), q.Namespace)
	}
	return r.namespaces.Matches(match.LabelsOf(namespace)), nil
}

// namespaceKind is the kind of namespaces.
var namespaceKind = kschema.GroupVersionKind{Version: "v1", Kind: "Namespace"}
