// Package match decides which requests the rules and selectors of webhooks and admission policies match.
//
//	[Rule]      operations, groups, versions, resources, scope and names of objects
//	[Selector]  a label selector
//	[LabelsOf]  the labels of an object, as selectors read them
//	[Cache]     what rules say about all requests of a kind
//
// Match conditions are expressions: see package expressions.
package match

import (
	"slices"
	"strings"
	"sync"

	registration "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/value"
)

// Rule is a compiled rule. It is immutable.
type Rule struct {
	operations       []string
	groups, versions []string
	resources        []resourceRule
	scope            registration.ScopeType
	names            []string // of objects; none match all
}

// resourceRule names a resource and a subresource. A star matches every name; an empty subresource matches the resource itself.
type resourceRule struct{ resource, subresource string }

// CompileRule compiles a rule. "pods/status" names a subresource, and "pods" the resource alone. The names are those of objects; no names
// match all objects.
func CompileRule(r registration.RuleWithOperations, names ...string) Rule {
	out := Rule{groups: r.APIGroups, versions: r.APIVersions, scope: registration.AllScopes, names: names}
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

// Matches reports whether the rule matches all names of a request if its resource were the given one. See [Rule.Names].
func (r *Rule) Matches(q *admission.Request, resource kschema.GroupVersionResource) bool {
	return r.inScope(q) && oneOf(r.operations, string(q.Operation)) && oneOf(r.groups, resource.Group) &&
		oneOf(r.versions, resource.Version) &&
		slices.ContainsFunc(r.resources, func(n resourceRule) bool {
			return (n.resource == "*" || n.resource == resource.Resource) && (n.subresource == "*" || n.subresource == q.Subresource)
		})
}

// Names reports whether the rule names the object of a request, or names none. An object whose name the server generates has no name yet.
func (r *Rule) Names(q *admission.Request) bool {
	return len(r.names) == 0 || slices.Contains(r.names, q.Name)
}

// inScope reports whether the scope of the rule includes the request. Namespace objects are cluster-scoped, although their requests carry
// their own name as namespace.
func (r *Rule) inScope(q *admission.Request) bool {
	namespaced := q.Namespace != "" && q.Resource != Namespaces
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

// Namespaces is the resource of namespaces.
var Namespaces = kschema.GroupVersionResource{Version: "v1", Resource: "namespaces"}

// oneOf reports whether names has a name or a star.
func oneOf(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return n == "*" || n == name })
}

// Selector returns a label selector, or nil if it selects everything.
func Selector(s *metav1.LabelSelector) (labels.Selector, error) {
	if s == nil {
		return nil, nil
	}
	compiled, err := metav1.LabelSelectorAsSelector(s)
	if err != nil || compiled.Empty() {
		return nil, err
	}
	return compiled, nil
}

// LabelsOf returns the labels of an object, or nil if there is no object.
func LabelsOf(object value.Value) labels.Labels {
	if object.IsAbsent() {
		return nil
	}
	return labelSet{object.Get("metadata", "labels")}
}

// labelSet implements labels.Labels on the labels of an object.
type labelSet struct{ names value.Value }

// Has reports whether the label exists.
func (l labelSet) Has(name string) bool { return l.names.Get(name).Kind() == value.KindString }

// Get returns the value of a label, or "" if it does not exist.
func (l labelSet) Get(name string) string { return l.names.Get(name).Str() }

// Lookup returns the value of a label, and whether it exists.
func (l labelSet) Lookup(name string) (string, bool) { return l.Get(name), l.Has(name) }

// kind is the key of a [Cache]. It holds everything that [Rule.Matches] depends on, so that requests with equal keys have equal outcomes.
//
// served stands for the resource and its version, and for all versions that are equivalent.
type kind struct {
	served      any // see [admission.Scope]
	operation   admission.Operation
	subresource string
	namespaced  bool
}

// maxKinds bounds a Cache. The bound matters only if definitions come and go.
const maxKinds = 4096

// Cache keeps, for all requests that rules do not tell apart, what the first of them found. The zero Cache is empty. It is safe for
// concurrent use.
type Cache[T any] struct {
	mu     sync.RWMutex
	byKind map[kind]T
}

// Get returns what find found for the first request like q. Several first requests may find it at the same time. The outcome is shared.
func (c *Cache[T]) Get(q *admission.Request, find func() T) T {
	key := kind{q.Scope.Served(), q.Operation, q.Subresource, q.Namespace != ""}
	c.mu.RLock()
	found, known := c.byKind[key]
	c.mu.RUnlock()
	if known {
		return found
	}
	found = find()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKind == nil || len(c.byKind) >= maxKinds {
		c.byKind = map[kind]T{}
	}
	c.byKind[key] = found
	return found
}
