package rbac

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/component-helpers/auth/rbac/validation"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/server/request"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// Escalation is an admission plugin that refuses a role or binding with more permissions than its writer has. It stands behind all other
// mutating plugins and before validation, where kube-apiserver checks.
//
// Three writers are exempt: members of system:masters, users who may escalate the role, and users who may bind the role.
type Escalation struct {
	Authorizer *Authorizer
	// Allows decides about the verbs escalate and bind, by all authorizers of the server.
	Allows auth.Authorizer
}

// everything are the rules that a user must have to set an aggregation rule.
var everything = []rbacv1.PolicyRule{
	{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}},
	{Verbs: []string{"*"}, NonResourceURLs: []string{"*"}},
}

// Admit refuses a write of a role or binding with 403, and a binding of a role that does not exist with 404.
func (e Escalation) Admit(ctx context.Context, r *admission.Request) error {
	user := auth.User(r.User)
	resource := r.Resource.GroupResource()
	if resource.Group != Group || r.Object.IsAbsent() || r.Subresource != "" || user.IsMaster() || admission.OnlyCollected(&r.Object, &r.Old) {
		return nil
	}
	p, err := e.Authorizer.current(ctx)
	if err != nil {
		return err
	}
	c := check{e, p, user, request.From(ctx).Action(), resource, r.Object.Content().Get("metadata", "name").Str()}
	switch resource.Resource {
	case roles, clusterRoles:
		return c.role(ctx, r.Object.Content(), r.Old.Content())
	default:
		return c.binding(ctx, r.Object.Content())
	}
}

// check is the check of one write.
type check struct {
	Escalation
	policy   *policy
	user     auth.User
	action   auth.Action // of the request
	resource kschema.GroupResource
	name     string // of the object
}

// role refuses a role whose rules the user does not have. A user needs all permissions to set or change an aggregation rule.
func (c check) role(ctx context.Context, object, old value.Value) error {
	escalate := auth.Action{
		Verb: "escalate", Group: Group, Version: "*", Resource: c.resource.Resource, Namespace: c.action.Namespace, Name: c.action.Name,
	}
	if ok, _ := c.Allows(ctx, c.user, escalate); ok {
		return nil
	}
	var role rbacv1.ClusterRole // a Role has the same rules
	if err := structs.Into(object, &role); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if err := c.covers(role.Rules); err != nil {
		return err
	}
	aggregates := func(v value.Value) bool { return v.Get("aggregationRule", "clusterRoleSelectors").Len() > 0 }
	if (aggregates(object) || aggregates(old)) && c.covers(everything) != nil {
		return apierrors.NewForbidden(c.resource, c.name, errors.New("must have cluster-admin privileges to use the aggregationRule"))
	}
	return nil
}

// binding refuses a binding to a role whose rules the user does not have.
func (c check) binding(ctx context.Context, object value.Value) error {
	b := &binding{namespace: c.action.Namespace}
	if err := structs.Into(object.Get("roleRef"), &b.ref); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	refersTo := map[string]string{"Role": roles, "ClusterRole": clusterRoles}[b.ref.Kind]
	bind := auth.Action{
		Verb: "bind", Group: b.ref.APIGroup, Version: "*", Resource: refersTo, Namespace: b.namespace, Name: b.ref.Name,
	}
	if ok, _ := c.Allows(ctx, c.user, bind); ok && refersTo != "" {
		return nil
	}
	role := c.policy.role(b.ref, b.namespace)
	switch {
	case refersTo == "":
		return b.unknownKind()
	case refersTo == roles && b.namespace == "":
		return apierrors.NewBadRequest("Namespace parameter required.")
	case b.ref.Name == "":
		return apierrors.NewBadRequest("Name parameter required.")
	case role == nil:
		if wrong := content.IsPathSegmentName(b.ref.Name); len(wrong) > 0 {
			return apierrors.NewBadRequest(fmt.Sprintf("Name parameter invalid: %q: %s", b.ref.Name, strings.Join(wrong, ";")))
		}
		return c.notFound(b.ref)
	}
	return c.covers(role.rules)
}

// notFound returns the 404 of a role. As in kube-apiserver, it names the resource of the request, which may be a binding.
func (c check) notFound(ref rbacv1.RoleRef) error { return apierrors.NewNotFound(c.resource, ref.Name) }

// covers returns a 403 that lists the rules that the user does not have, nil if the user has all of them.
func (c check) covers(rules []rbacv1.PolicyRule) error {
	var own []rbacv1.PolicyRule
	var missing []error
	for _, b := range c.policy.bindings(c.user, c.action.Namespace) {
		if b.role == nil {
			missing = append(missing, c.notFound(b.ref))
			continue
		}
		own = append(own, b.role.rules...)
	}
	covered, lacking := validation.Covers(own, rules)
	if covered {
		return nil
	}
	text := fmt.Sprintf("user %q (groups=%q) is attempting to grant RBAC permissions not currently held:\n%s", c.user.Name, c.user.Groups,
		strings.Join(shown(lacking), "\n"))
	if len(missing) > 0 {
		text += fmt.Sprintf("; resolution errors: [%s]", joined(missing))
	}
	return apierrors.NewForbidden(c.resource, c.name, errors.New(text))
}

// shown returns rules as a refusal lists them, in the order of their texts, each once. Rules that differ only in their verbs are one.
//
// Each rule that it gets has one group, resource and name, or one path.
func shown(rules []rbacv1.PolicyRule) []string {
	verbs := map[string][]string{}
	texts := map[string]bool{}
	for _, r := range rules {
		if len(r.NonResourceURLs) > 0 {
			texts[fmt.Sprintf("{NonResourceURLs:%q, Verbs:%q}", r.NonResourceURLs, r.Verbs)] = true
			continue
		}
		of := fmt.Sprintf("APIGroups:%q, Resources:%q", r.APIGroups, r.Resources)
		if len(r.ResourceNames) > 0 {
			of += fmt.Sprintf(", ResourceNames:%q", r.ResourceNames)
		}
		verbs[of] = append(verbs[of], r.Verbs...)
	}
	for of, v := range verbs {
		texts[fmt.Sprintf("{%s, Verbs:%q}", of, v)] = true
	}
	return slices.Sorted(maps.Keys(texts))
}
