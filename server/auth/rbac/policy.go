package rbac

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	rbacv1 "k8s.io/api/rbac/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/deed-project/deed/server/auth"
)

// policy is what the roles and bindings of a store grant. It is immutable, except for the indexes of grants, and safe for concurrent use.
type policy struct {
	changes uint64            // see Authorizer
	roles   map[roleKey]*role // roles of namespaces and of the cluster
	grants  map[subject]*grants
}

// roleKey names a role. The namespace of a ClusterRole is empty.
type roleKey struct{ namespace, kind, name string }

// role holds the rules of a role.
type role struct{ rules []rbacv1.PolicyRule }

// subject is a user or group that bindings of one namespace grant roles to. Bindings of the cluster have no namespace. A service account is
// a user.
type subject struct {
	namespace, name string
	group           bool
}

// binding is a RoleBinding, or without a namespace a ClusterRoleBinding.
type binding struct {
	namespace, name string
	ref             rbacv1.RoleRef
	subjects        []rbacv1.Subject
	role            *role // nil if it does not exist
}

// grants are the bindings of one subject, by name. The rules are indexed when the subject sends its first request: most subjects of a cluster
// never send one.
type grants struct {
	bindings []*binding
	once     sync.Once
	of       map[ruleKey][]granted // rules for resources
	paths    []granted             // rules for paths
	missing  bool                  // a role does not exist
}

// ruleKey is a group, a resource and a name as they stand in a rule. A rule without names has any name. That is not the empty one, which a rule
// may have for requests without a name.
type ruleKey struct {
	group, resource, name string
	anyName               bool
}

// granted is a rule of a role that a binding grants.
type granted struct {
	rule *rbacv1.PolicyRule
	by   *binding
}

// compile returns the policy of the objects that a has read.
func (a *Authorizer) compile(changes uint64) *policy {
	p := &policy{changes: changes, roles: make(map[roleKey]*role, a.roles.Len()+a.clusterRoles.Len()), grants: map[subject]*grants{}}
	for o := range a.roles.All() {
		p.roles[roleKey{o.Namespace, "Role", o.Name}] = &role{o.Rules}
	}
	for o := range a.clusterRoles.All() {
		p.roles[roleKey{"", "ClusterRole", o.Name}] = &role{o.Rules}
	}
	for o := range a.clusterRoleBindings.All() {
		p.bind(&binding{name: o.Name, ref: o.RoleRef, subjects: o.Subjects})
	}
	for o := range a.roleBindings.All() {
		p.bind(&binding{namespace: o.Namespace, name: o.Name, ref: o.RoleRef, subjects: o.Subjects})
	}
	for _, g := range p.grants {
		slices.SortFunc(g.bindings, byName)
	}
	return p
}

// byName compares bindings of one namespace.
func byName(a, b *binding) int { return cmp.Compare(a.name, b.name) }

// bind adds a binding to the grants of each of its subjects, once.
func (p *policy) bind(b *binding) {
	b.role = p.role(b.ref, b.namespace)
	for _, s := range b.subjects {
		key, ok := subjectOf(s, b.namespace)
		if !ok {
			continue
		}
		g := p.grants[key]
		if g == nil {
			g = &grants{}
			p.grants[key] = g
		}
		if !slices.Contains(g.bindings, b) {
			g.bindings = append(g.bindings, b)
		}
	}
}

// subjectOf returns the key of a subject of a binding, and whether the subject can be a user of a request. A service account without a
// namespace is in that of the binding.
func subjectOf(s rbacv1.Subject, namespace string) (subject, bool) {
	switch s.Kind {
	case rbacv1.UserKind:
		return subject{namespace: namespace, name: s.Name}, true
	case rbacv1.GroupKind:
		return subject{namespace: namespace, name: s.Name, group: true}, true
	case rbacv1.ServiceAccountKind:
		of := cmp.Or(s.Namespace, namespace)
		return subject{namespace: namespace, name: "system:serviceaccount:" + of + ":" + s.Name}, of != ""
	}
	return subject{}, false
}

// role returns the role that a binding in a namespace refers to, nil if there is none.
func (p *policy) role(ref rbacv1.RoleRef, namespace string) *role {
	if ref.Kind == "ClusterRole" {
		namespace = ""
	}
	return p.roles[roleKey{namespace, ref.Kind, ref.Name}]
}

// authorize reports whether a rule allows an action to a user, and by which binding. Bindings of the cluster come before those of the
// namespace. A refusal names the roles that do not exist, by the names of their bindings.
func (p *policy) authorize(u auth.User, a auth.Action) (allowed bool, reason string) {
	isMissing := false
	for g := range p.grantsOf(u, a.Namespace) {
		if by := g.allowing(a); by != nil {
			return true, "RBAC: allowed by " + by.describe(u)
		}
		isMissing = isMissing || g.missing
	}
	if !isMissing {
		return false, ""
	}
	_, missing := p.rules(u, a.Namespace)
	return false, refusal + joined(missing)
}

// refusal begins the reason of a refusal: the name of the authorizer among those of a server, and its own text.
const refusal = "rbac: RBAC: "

// joined returns the text of errors, each text once.
func joined(errs []error) string {
	if len(errs) == 0 {
		return ""
	}
	return utilerrors.NewAggregate(errs).Error()
}

// grantsOf yields what is granted to a user and its groups: everywhere, and then in a namespace.
func (p *policy) grantsOf(u auth.User, namespace string) func(yield func(*grants) bool) {
	return func(yield func(*grants) bool) {
		for _, in := range []string{"", namespace} {
			if g := p.grants[subject{namespace: in, name: u.Name}]; g != nil && !yield(g) {
				return
			}
			for _, group := range u.Groups {
				if g := p.grants[subject{namespace: in, name: group, group: true}]; g != nil && !yield(g) {
					return
				}
			}
			if namespace == "" {
				return
			}
		}
	}
}

// index indexes the rules that are granted, and notes whether a role is missing.
func (g *grants) index() {
	g.of = map[ruleKey][]granted{}
	for _, b := range g.bindings {
		if b.role == nil {
			g.missing = true
			continue
		}
		for i := range b.role.rules {
			rule := &b.role.rules[i]
			for key := range keysOf(rule) {
				g.of[key] = append(g.of[key], granted{rule, b})
			}
			if len(rule.NonResourceURLs) > 0 {
				g.paths = append(g.paths, granted{rule, b})
			}
		}
	}
}

// keysOf yields the keys of a rule for resources.
func keysOf(r *rbacv1.PolicyRule) func(yield func(ruleKey) bool) {
	return func(yield func(ruleKey) bool) {
		for _, group := range r.APIGroups {
			for _, resource := range r.Resources {
				if len(r.ResourceNames) == 0 && !yield(ruleKey{group: group, resource: resource, anyName: true}) {
					return
				}
				for _, name := range r.ResourceNames {
					if !yield(ruleKey{group: group, resource: resource, name: name}) {
						return
					}
				}
			}
		}
	}
}

// allowing returns a binding with a rule that allows an action, nil if there is none.
func (g *grants) allowing(a auth.Action) *binding {
	g.once.Do(g.index)
	if a.IsPath() {
		return first(g.paths, func(r *rbacv1.PolicyRule) bool { return allowsPath(r, a) })
	}
	if len(g.of) == 0 {
		return nil
	}
	allows := func(r *rbacv1.PolicyRule) bool { return matches(r.Verbs, a.Verb) }
	resources := [...]string{a.Resource, "*", "*/" + a.Subresource}
	which := resources[:2]
	if a.Subresource != "" {
		resources[0], which = a.Resource+"/"+a.Subresource, resources[:]
	}
	for _, group := range [...]string{a.Group, "*"} {
		for _, resource := range which {
			if by := first(g.of[ruleKey{group: group, resource: resource, anyName: true}], allows); by != nil {
				return by
			}
			if by := first(g.of[ruleKey{group: group, resource: resource, name: a.Name}], allows); by != nil {
				return by
			}
		}
	}
	return nil
}

// first returns the binding of the first rule that allows, nil if none does.
func first(rules []granted, allows func(*rbacv1.PolicyRule) bool) *binding {
	for _, r := range rules {
		if allows(r.rule) {
			return r.by
		}
	}
	return nil
}

// allowsPath reports whether a rule allows what an action does with a path. A path in a rule may end with a star.
func allowsPath(r *rbacv1.PolicyRule, a auth.Action) bool {
	return matches(r.Verbs, a.Verb) && slices.ContainsFunc(r.NonResourceURLs, func(path string) bool {
		return path == a.Path || strings.HasSuffix(path, "*") && strings.HasPrefix(a.Path, strings.TrimRight(path, "*"))
	})
}

// matches reports whether a list of a rule has a text, or a star.
func matches(list []string, text string) bool {
	for _, item := range list {
		if item == text || item == "*" {
			return true
		}
	}
	return false
}

// rules returns the rules that hold for a user in a namespace, by the names of the bindings, and the roles that are missing. The rules are
// shared and must not be modified.
func (p *policy) rules(u auth.User, namespace string) (rules []rbacv1.PolicyRule, missing []error) {
	for _, b := range p.bindings(u, namespace) {
		if b.role == nil {
			missing = append(missing, b.missing())
			continue
		}
		rules = append(rules, b.role.rules...)
	}
	return rules, missing
}

// bindings returns the bindings that grant something to a user in a namespace, those of the cluster first, by name.
func (p *policy) bindings(u auth.User, namespace string) []*binding {
	var all []*binding
	for g := range p.grantsOf(u, namespace) {
		all = append(all, g.bindings...)
	}
	slices.SortFunc(all, func(a, b *binding) int { return cmp.Or(cmp.Compare(a.namespace, b.namespace), byName(a, b)) })
	return slices.Compact(all)
}

// missing returns the error of a role that does not exist.
func (b *binding) missing() error {
	switch b.ref.Kind {
	case "Role", "ClusterRole":
		return fmt.Errorf("%s.%s %q not found", strings.ToLower(b.ref.Kind), Group, b.ref.Name)
	}
	return b.unknownKind()
}

// unknownKind returns the error of a binding that refers to something else than a role.
func (b *binding) unknownKind() error {
	return fmt.Errorf("unsupported role reference kind: %q", b.ref.Kind)
}

// describe returns how a reason names the binding that allows something to a user: with its role and the first subject that the user is.
func (b *binding) describe(u auth.User) string {
	kind, name := "ClusterRoleBinding", b.name
	if b.namespace != "" {
		kind, name = "RoleBinding", b.name+"/"+b.namespace
	}
	at := slices.IndexFunc(b.subjects, func(s rbacv1.Subject) bool {
		key, ok := subjectOf(s, b.namespace)
		return ok && (!key.group && key.name == u.Name || key.group && slices.Contains(u.Groups, key.name))
	})
	s := b.subjects[at]
	who := s.Name
	if s.Kind == rbacv1.ServiceAccountKind {
		who += "/" + cmp.Or(s.Namespace, b.namespace)
	}
	return fmt.Sprintf("%s %q of %s %q to %s %q", kind, name, b.ref.Kind, b.ref.Name, s.Kind, who)
}
