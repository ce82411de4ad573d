package rbac

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	_ "embed" // for bootstrapFile
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/auth/rbac/validation"

	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/server/loopback"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

//go:embed bootstrap.jsonl.gz
var bootstrapFile []byte

// initial is a role or binding that a cluster begins with.
type initial struct {
	object  value.Value
	plural  string
	role    rbacv1.ClusterRole // also of a Role, which has no aggregation rule
	binding rbacv1.RoleBinding // also of a ClusterRoleBinding, which has no namespace
}

// initials returns the roles and bindings that a kube-apiserver v1.37 creates, as oracle/kube/rbac reads them from it.
var initials = sync.OnceValue(func() []initial {
	z, err := gzip.NewReader(bytes.NewReader(bootstrapFile))
	if err != nil {
		panic(err) // the file is part of the program
	}
	var out []initial
	lines := bufio.NewScanner(z)
	for lines.Scan() {
		of, err := parseInitial(lines.Bytes())
		if err != nil {
			panic(err) // as above
		}
		out = append(out, of)
	}
	if err := lines.Err(); err != nil {
		panic(err) // as above
	}
	return out
})

// parseInitial reads a line of the file.
func parseInitial(line []byte) (initial, error) {
	object, err := value.Parse(bytes.Clone(line))
	if err != nil {
		return initial{}, err
	}
	of := initial{object: object}
	switch object.Get("kind").Str() {
	case "ClusterRole":
		of.plural, err = clusterRoles, structs.Into(object, &of.role)
	case "Role":
		of.plural, err = roles, structs.Into(object, &of.role)
	case "ClusterRoleBinding":
		of.plural, err = clusterRoleBindings, structs.Into(object, &of.binding)
	default:
		of.plural, err = roleBindings, structs.Into(object, &of.binding)
	}
	return of, err
}

// nodeRole is the ClusterRole whose rules hold for nodes.
const nodeRole = "system:node"

// NodeRole returns a function that reports whether the ClusterRole system:node of a new cluster allows an action.
func NodeRole() func(auth.Action) bool {
	of := sync.OnceValue(func() *grants {
		all := initials()
		i := slices.IndexFunc(all, func(o initial) bool { return o.plural == clusterRoles && o.role.Name == nodeRole })
		return &grants{bindings: []*binding{{role: &role{all[i].role.Rules}}}}
	})
	return func(a auth.Action) bool { return of().allowing(a) != nil }
}

// change is a request that brings a stored object in line with an initial one. A recreation deletes the object first.
type change struct {
	method, path string
	recreate     bool
	object       value.Value
}

// Bootstrap creates the roles and bindings that a cluster begins with, and adds to existing ones what they lack. An object whose annotation
// rbac.authorization.kubernetes.io/autoupdate is "false" stays as it is.
//
// A store without roles and bindings gets prepared texts, in which roles are aggregated already. Then complete is the revision of the last
// one, and else 0.
//
// Another server on the same store may do the same at the same time, so conflicts are no errors: what is left is looked at again.
func (a *Authorizer) Bootstrap(ctx context.Context, client *loopback.Client, now time.Time) (complete store.Revision, err error) {
	complete, err = a.prepare(ctx, now)
	a.Changed()
	if err != nil || complete > 0 {
		return complete, err
	}
	return 0, a.reconcile(ctx, client)
}

// reconcile brings the stored objects in line with the initial ones.
func (a *Authorizer) reconcile(ctx context.Context, client *loopback.Client) error {
	for range 3 {
		changes, err := a.wanting(ctx)
		if err != nil {
			return err
		}
		again := false
		for _, c := range changes {
			err := c.send(ctx, client)
			switch {
			case errors.IsAlreadyExists(err), errors.IsConflict(err), errors.IsNotFound(err):
				again = true
			case err != nil:
				return fmt.Errorf("%s: %w", c.path, err)
			}
		}
		a.Changed()
		if !again {
			break
		}
	}
	return nil
}

// send carries out a change.
func (c change) send(ctx context.Context, client *loopback.Client) error {
	if !c.recreate {
		return client.Send(ctx, c.method, c.path, c.object)
	}
	if err := client.Send(ctx, http.MethodDelete, c.path+"/"+c.object.Get("metadata", "name").Str(), value.Value{}); err != nil {
		return err
	}
	return client.Send(ctx, http.MethodPost, c.path, c.object)
}

// wanting returns the changes that the stored objects need.
func (a *Authorizer) wanting(ctx context.Context) ([]change, error) {
	if _, err := a.current(ctx); err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []change
	for _, of := range initials() {
		c, err := a.changeOf(of)
		if err != nil {
			return nil, err
		}
		if c != nil {
			out = append(out, *c)
		}
	}
	return out, nil
}

// formerRoles are the names of ClusterRoles whose rules an initial one took over, and formerBindings those of ClusterRoleBindings. A new
// object begins with what a stored former one has, so that edits of it are not lost.
var (
	formerRoles = map[string]string{
		"system:aggregate-to-admin": "admin", "system:aggregate-to-edit": "edit", "system:aggregate-to-view": "view",
	}
	formerBindings = map[string]string{"system:public-info-viewer": "system:discovery"}
)

// changeOf returns the change that an initial object needs, nil if it is stored as it should be.
func (a *Authorizer) changeOf(of initial) (_ *change, err error) {
	namespace, name := of.object.Get("metadata", "namespace").Str(), of.object.Get("metadata", "name").Str()
	path, key := "/apis/"+Group+"/v1/"+of.plural, name
	if namespace != "" {
		path, key = "/apis/"+Group+"/v1/namespaces/"+namespace+"/"+of.plural, namespace+"/"+name
	}
	create := &change{method: http.MethodPost, path: path, object: of.object}
	update := func(changed bool, object any) (*change, error) {
		if !changed {
			return nil, nil
		}
		body, err := structs.From(object)
		return &change{method: http.MethodPut, path: path + "/" + name, object: body}, err
	}
	switch of.plural {
	case clusterRoles:
		if live := a.clusterRoles.Get(a.clusterRoles.Prefix + key); live != nil {
			role := *live
			return update(reconcileRole(&role, of.role), &role)
		}
		if former := a.clusterRoles.Get(a.clusterRoles.Prefix + formerRoles[name]); former != nil && former.AggregationRule == nil {
			create.object, err = of.roleLike(former)
		}
	case roles:
		if live := a.roles.Get(a.roles.Prefix + key); live != nil {
			role := rbacv1.ClusterRole{TypeMeta: live.TypeMeta, ObjectMeta: live.ObjectMeta, Rules: live.Rules}
			return update(reconcileRole(&role, of.role), &role)
		}
	case clusterRoleBindings:
		if live := a.clusterRoleBindings.Get(a.clusterRoleBindings.Prefix + key); live != nil {
			return of.rebound(create, update, rbacv1.RoleBinding(*live))
		}
		if former := a.clusterRoleBindings.Get(a.clusterRoleBindings.Prefix + formerBindings[name]); former != nil {
			create.object, err = of.bindingLike(former)
		}
	default:
		if live := a.roleBindings.Get(a.roleBindings.Prefix + key); live != nil {
			return of.rebound(create, update, *live)
		}
	}
	return create, err
}

// roleLike returns a new role that has what a former one has, and what the initial one has.
func (of initial) roleLike(former *rbacv1.ClusterRole) (value.Value, error) {
	role := *former
	role.Name, role.ResourceVersion = of.role.Name, ""
	reconcileRole(&role, of.role)
	return structs.From(&role)
}

// bindingLike returns a new binding that has the labels, annotations and subjects of a former one, and what the initial one has.
func (of initial) bindingLike(former *rbacv1.ClusterRoleBinding) (value.Value, error) {
	b := of.binding
	b.Labels, b.Annotations, b.Subjects = former.Labels, former.Annotations, former.Subjects
	reconcileBinding(&b, of.binding)
	return structs.From(&b)
}

// rebound returns the change of a binding that is stored. A binding to another role is made anew, since its role is immutable.
func (of initial) rebound(create *change, update func(bool, any) (*change, error), live rbacv1.RoleBinding) (*change, error) {
	if live.RoleRef != of.binding.RoleRef && !isProtected(live.Annotations) {
		create.recreate = true
		return create, nil
	}
	return update(reconcileBinding(&live, of.binding), &live)
}

// isProtected reports whether an object is to stay as it is.
func isProtected(annotations map[string]string) bool {
	return annotations[rbacv1.AutoUpdateAnnotationKey] == "false"
}

// reconcileRole adds to a role what an initial one has, and reports whether it changed. It does not modify what the role refers to.
func reconcileRole(role *rbacv1.ClusterRole, want rbacv1.ClusterRole) (changed bool) {
	if isProtected(role.Annotations) {
		return false
	}
	changed = addMetadata(&role.ObjectMeta, want.ObjectMeta)
	if _, missing := validation.Covers(role.Rules, want.Rules); len(missing) > 0 {
		role.Rules, changed = slices.Concat(role.Rules, missing), true
	}
	switch {
	case want.AggregationRule == nil && role.AggregationRule != nil:
		role.AggregationRule, changed = nil, true
	case want.AggregationRule != nil:
		rule := rbacv1.AggregationRule{}
		if role.AggregationRule != nil {
			rule = *role.AggregationRule
		}
		for _, s := range want.AggregationRule.ClusterRoleSelectors {
			if !slices.ContainsFunc(rule.ClusterRoleSelectors, func(o metav1.LabelSelector) bool { return equality.Semantic.DeepEqual(o, s) }) {
				rule.ClusterRoleSelectors, changed = append(slices.Clip(rule.ClusterRoleSelectors), s), true
			}
		}
		role.AggregationRule = &rule
	}
	return changed
}

// reconcileBinding adds to a binding what an initial one has, and reports whether it changed. It does not modify what the binding refers to.
func reconcileBinding(binding *rbacv1.RoleBinding, want rbacv1.RoleBinding) (changed bool) {
	if isProtected(binding.Annotations) {
		return false
	}
	changed = addMetadata(&binding.ObjectMeta, want.ObjectMeta)
	for _, s := range want.Subjects {
		if !slices.Contains(binding.Subjects, s) {
			binding.Subjects, changed = append(slices.Clip(binding.Subjects), s), true
		}
	}
	return changed
}

// addMetadata adds annotations and labels that an object lacks, and reports whether it changed.
func addMetadata(to *metav1.ObjectMeta, want metav1.ObjectMeta) (changed bool) {
	var annotations, labels bool
	to.Annotations, annotations = union(to.Annotations, want.Annotations)
	to.Labels, labels = union(to.Labels, want.Labels)
	return annotations || labels
}

// union returns a map with the members of both, and reports whether want has a name that have lacks.
func union(have, want map[string]string) (map[string]string, bool) {
	out := maps.Clone(want)
	if out == nil {
		return have, false
	}
	maps.Copy(out, have)
	return out, len(out) != len(have)
}
