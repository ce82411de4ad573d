package kinds

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/value"
)

// Roles and bindings. This server stores them and does not authorize by them; see package auth. It validates them as kube-apiserver does,
// without the check for escalation: a user may grant permissions that the user does not have.

// validateRole refuses a Role, and clusterRole a ClusterRole, which may say what may be done at paths.
func validateRole(r *report, object place, _ value.Value) { r.policyRules(object, true) }

func validateClusterRole(r *report, object place, _ value.Value) {
	r.policyRules(object, false)
	aggregation := object.at("aggregationRule")
	if selectors := aggregation.at("clusterRoleSelectors"); aggregation.is() && selectors.Len() == 0 {
		r.required(selectors, "at least one clusterRoleSelector required if aggregationRule is non-nil")
	} else {
		for i := range selectors.indexes() {
			before := len(r.errs)
			if r.selector(selectors.item(i)); len(r.errs) > before {
				r.invalidAs(selectors.item(i), nil, "invalid label selector.")
			}
		}
	}
}

// roleName is the name rule of roles and bindings, for prefixes of generated names, too.
func roleName(name string, _ bool) []string { return api.PathSegment(name, false) }

// policyRules refuses what may be done.
//
// A rule is about resources or about paths, and never about both.
func (r *report) policyRules(object place, namespaced bool) {
	rules := object.at("rules")
	for i := range rules.indexes() {
		rule := rules.item(i)
		if verbs := rule.at("verbs"); verbs.Len() == 0 {
			r.later(verbs, "")
		}
		paths, groups, resources := rule.at("nonResourceURLs"), rule.at("apiGroups"), rule.at("resources")
		if paths.Len() > 0 {
			if namespaced {
				r.invalid(paths, "namespaced rules cannot apply to non-resource URLs")
			}
			if groups.Len() > 0 || resources.Len() > 0 || rule.Get("resourceNames").Len() > 0 {
				r.invalid(paths, "rules cannot apply to both regular resources and non-resource URLs")
			}
			continue
		}
		if groups.Len() == 0 {
			r.required(groups, "resource rules must supply at least one api group")
		}
		if resources.Len() == 0 {
			r.required(resources, "resource rules must supply at least one resource")
		}
	}
}

// validateRoleBinding refuses a RoleBinding, and clusterRoleBinding a ClusterRoleBinding.
func validateRoleBinding(r *report, object place, live value.Value) {
	r.binding(object, live, true, "Role", "ClusterRole")
}

func validateClusterRoleBinding(r *report, object place, live value.Value) {
	r.binding(object, live, false, "ClusterRole")
}

// binding refuses who gets which role.
//
// The role cannot change: a binding to another role is another binding. The namespace of a service account may be left out in a namespace.
func (r *report) binding(object place, live value.Value, namespaced bool, roles ...string) {
	ref := object.at("roleRef")
	if group := ref.at("apiGroup"); group.Str() != rbacGroup {
		r.notOneOf(group, rbacGroup)
	}
	r.textAmong(ref.at("kind"), roles...)
	name := ref.at("name")
	isReplaced := isSet(live) && !same(ref.Value, live.Get("roleRef"))
	switch {
	case name.Str() != "":
		r.invalid(name, content.IsPathSegmentName(name.Str())...)
	case isReplaced: // the tags of the type do not look into it
		r.required(name, "")
	}
	subjects := object.at("subjects")
	for i := range subjects.indexes() {
		r.subject(subjects.item(i), namespaced)
	}
	switch {
	case isReplaced:
		r.invalidAs(ref, refShown{ref.text("apiGroup"), ref.text("kind"), ref.text("name")}, "field is immutable")
	case name.Str() == "":
		r.later(name, "")
	}
}

// refShown is how a reference to a role is shown.
type refShown struct{ APIGroup, Kind, Name string }

// subject refuses who gets a role.
//
// The group follows from the kind.
func (r *report) subject(p place, namespaced bool) {
	name, group, namespace := p.at("name"), p.at("apiGroup"), p.at("namespace")
	if name.Str() == "" {
		r.later(name, "")
	}
	switch p.text("kind") {
	case "ServiceAccount":
		r.optionalSubdomain(name)
		if group.Str() != "" {
			r.notOneOf(group, "")
		}
		if !namespaced && namespace.Str() == "" {
			r.required(namespace, "")
		}
	case "User", "Group":
		if group.Str() != rbacGroup {
			r.notOneOf(group, rbacGroup)
		}
	default:
		r.notOneOf(p.at("kind"), "ServiceAccount", "User", "Group")
	}
}

// roleText shows the role that a binding is about.
func roleText(s source) string {
	return s.Get("roleRef", "kind").Str() + "/" + s.Get("roleRef", "name").Str()
}

// subjects shows the subjects of a kind.
func subjects(kind string) cell {
	return shown(func(s source) string {
		var out []string
		for subject := range s.Get("subjects").Items() {
			name := subject.Get("name").Str()
			switch {
			case subject.Get("kind").Str() != kind:
				continue
			case kind == "ServiceAccount":
				name = subject.Get("namespace").Str() + "/" + name
			}
			out = append(out, name)
		}
		return strings.Join(out, ", ")
	})
}

// bindingCells returns the cells of bindings of roles.
func bindingCells() []cell {
	return []cell{name, shown(roleText), age, subjects("User"), subjects("Group"), subjects("ServiceAccount")}
}
