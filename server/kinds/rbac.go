package kinds

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

// Roles and bindings. This server stores them and does not authorize by them; see package auth. It validates them as kube-apiserver does,
// without the check for escalation: a user may grant permissions that the user does not have.

// validateRole refuses a Role, and validateClusterRole a ClusterRole, which may say what may be done at paths.
func validateRole(r *walk.Report, object walk.Place, _ value.Value) {
	validatePolicyRules(r, object, true)
}

func validateClusterRole(r *walk.Report, object walk.Place, _ value.Value) {
	validatePolicyRules(r, object, false)
	aggregation := object.At("aggregationRule")
	if selectors := aggregation.At("clusterRoleSelectors"); aggregation.IsSet() && selectors.Len() == 0 {
		r.Required(selectors, "at least one clusterRoleSelector required if aggregationRule is non-nil")
	} else {
		for i := range selectors.Indexes() {
			before := len(r.Errs)
			if r.Selector(selectors.Index(i)); len(r.Errs) > before {
				r.InvalidAs(selectors.Index(i), nil, "invalid label selector.")
			}
		}
	}
}

// roleName is the name rule of roles and bindings, for prefixes of generated names, too.
func roleName(name string, _ bool) []string { return api.PathSegment(name, false) }

// validatePolicyRules refuses what may be done.
//
// A rule is about resources or about paths, and never about both.
func validatePolicyRules(r *walk.Report, object walk.Place, namespaced bool) {
	rules := object.At("rules")
	for i := range rules.Indexes() {
		rule := rules.Index(i)
		if verbs := rule.At("verbs"); verbs.Len() == 0 {
			r.RequiredLater(verbs, r.Worded("verbs must contain at least one value", ""))
		}
		paths, groups, resources := rule.At("nonResourceURLs"), rule.At("apiGroups"), rule.At("resources")
		if paths.Len() > 0 {
			if namespaced {
				r.Invalid(paths, "namespaced rules cannot apply to non-resource URLs")
			}
			if groups.Len() > 0 || resources.Len() > 0 || rule.Get("resourceNames").Len() > 0 {
				r.Invalid(paths, "rules cannot apply to both regular resources and non-resource URLs")
			}
			continue
		}
		if groups.Len() == 0 {
			r.Required(groups, "resource rules must supply at least one api group")
		}
		if resources.Len() == 0 {
			r.Required(resources, "resource rules must supply at least one resource")
		}
	}
}

// validateRoleBinding refuses a RoleBinding, and validateClusterRoleBinding a ClusterRoleBinding.
func validateRoleBinding(r *walk.Report, object walk.Place, live value.Value) {
	validateBinding(r, object, live, true, "Role", "ClusterRole")
}

func validateClusterRoleBinding(r *walk.Report, object walk.Place, live value.Value) {
	validateBinding(r, object, live, false, "ClusterRole")
}

// validateBinding refuses who gets which role.
//
// The role cannot change: a binding to another role is another binding. The namespace of a service account may be left out in a namespace.
func validateBinding(r *walk.Report, object walk.Place, live value.Value, namespaced bool, roles ...string) {
	ref := object.At("roleRef")
	if group := ref.At("apiGroup"); group.Str() != rbacGroup {
		r.NotOneOf(group, rbacGroup)
	}
	r.TextAmong(ref.At("kind"), roles...)
	name := ref.At("name")
	isReplaced := walk.IsSet(live) && !walk.Same(ref.Value, live.Get("roleRef"))
	switch {
	case name.Str() != "":
		r.Invalid(name, content.IsPathSegmentName(name.Str())...)
	case isReplaced || r.Before(walk.TaggedSince): // the tags of the type do not look into another reference
		r.Required(name, "")
	}
	subjects := object.At("subjects")
	for i := range subjects.Indexes() {
		validateSubject(r, subjects.Index(i), namespaced)
	}
	switch {
	case isReplaced:
		r.InvalidAs(ref, refShown{ref.Text("apiGroup"), ref.Text("kind"), ref.Text("name")}, "field is immutable")
	case name.Str() == "" && !r.Before(walk.TaggedSince):
		r.RequiredLater(name, "")
	}
}

// refShown is how a reference to a role is shown.
type refShown struct{ APIGroup, Kind, Name string }

// validateSubject refuses who gets a role.
//
// The group follows from the kind.
func validateSubject(r *walk.Report, p walk.Place, namespaced bool) {
	name, group, namespace := p.At("name"), p.At("apiGroup"), p.At("namespace")
	if name.Str() == "" {
		r.RequiredLater(name, "")
	}
	switch p.Text("kind") {
	case "ServiceAccount":
		r.OptionalSubdomain(name)
		if group.Str() != "" {
			r.NotOneOf(group, "")
		}
		if !namespaced && namespace.Str() == "" {
			r.Required(namespace, "")
		}
	case "User", "Group":
		if group.Str() != rbacGroup {
			r.NotOneOf(group, rbacGroup)
		}
	default:
		r.NotOneOf(p.At("kind"), "ServiceAccount", "User", "Group")
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
