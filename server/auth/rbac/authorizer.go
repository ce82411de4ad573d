package rbac

import (
	"context"
	"sync"
	"sync/atomic"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/logs"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/replica"
)

// Authorizer decides by the stored roles and bindings. It is safe for concurrent use.
//
// Invariant: a decision that begins after Changed has returned takes all writes into account that were stored before Changed was called.
// changes counts the calls of Changed. A policy has the count that was read before the store was.
type Authorizer struct {
	store store.Store
	log   logs.Logger

	changes atomic.Uint64
	policy  atomic.Pointer[policy] // nil before the first decision

	mu                  sync.Mutex // is held while a policy is compiled
	roles               replica.Replica[*rbacv1.Role]
	roleBindings        replica.Replica[*rbacv1.RoleBinding]
	clusterRoles        replica.Replica[*rbacv1.ClusterRole]
	clusterRoleBindings replica.Replica[*rbacv1.ClusterRoleBinding]
}

// New returns an authorizer. resource returns the served resource of a plural of [Resources].
func New(s store.Store, resource func(plural string) *catalog.Resource, log logs.Logger) *Authorizer {
	a := &Authorizer{store: s, log: log}
	a.roles, a.roleBindings = stored[rbacv1.Role](resource(roles).Prefix), stored[rbacv1.RoleBinding](resource(roleBindings).Prefix)
	a.clusterRoles = stored[rbacv1.ClusterRole](resource(clusterRoles).Prefix)
	a.clusterRoleBindings = stored[rbacv1.ClusterRoleBinding](resource(clusterRoleBindings).Prefix)
	return a
}

// Changed tells the authorizer that a role or binding was written or deleted.
func (a *Authorizer) Changed() { a.changes.Add(1) }

// Authorize reports whether a rule allows an action to a user. The reason names the binding that allows it, or the roles that bindings name
// and that do not exist. It is an [auth.Authorizer].
//
// If the store cannot be read, the action is refused: a permission may have been withdrawn.
func (a *Authorizer) Authorize(ctx context.Context, u auth.User, action auth.Action) (allowed bool, reason string) {
	p, err := a.current(ctx)
	if err != nil {
		return false, refusal + err.Error()
	}
	return p.authorize(u, action)
}

// Rules returns the rules that hold for a user in a namespace. It is an [auth.RuleResolver].
func (a *Authorizer) Rules(ctx context.Context, u auth.User, namespace string) auth.Rules {
	p, err := a.current(ctx)
	if err != nil {
		return auth.Rules{Incomplete: true, Error: err.Error()}
	}
	rules, missing := p.rules(u, namespace)
	out := auth.Rules{Error: joined(missing)}
	for _, r := range rules {
		if len(r.Resources) > 0 {
			out.Resources = append(out.Resources, authorizationv1.ResourceRule{
				Verbs: r.Verbs, APIGroups: r.APIGroups, Resources: r.Resources, ResourceNames: r.ResourceNames,
			})
		}
		if len(r.NonResourceURLs) > 0 {
			out.Paths = append(out.Paths, authorizationv1.NonResourceRule{Verbs: r.Verbs, NonResourceURLs: r.NonResourceURLs})
		}
	}
	return out
}

// current returns the policy of what is stored now.
//
// The count is read before the store. So a write that is stored meanwhile is read now, or makes the next call compile again.
func (a *Authorizer) current(ctx context.Context) (*policy, error) {
	if p := a.policy.Load(); p != nil && p.changes == a.changes.Load() {
		return p, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	changes := a.changes.Load()
	if p := a.policy.Load(); p != nil && p.changes == changes {
		return p, nil
	}
	for _, catchUp := range []func(context.Context, store.Store) error{
		a.roles.CatchUp, a.roleBindings.CatchUp, a.clusterRoles.CatchUp, a.clusterRoleBindings.CatchUp,
	} {
		if err := catchUp(ctx, a.store); err != nil {
			a.log.Error("roles and bindings cannot be read", logs.Fault(err))
			return nil, err
		}
	}
	p := a.compile(changes)
	a.policy.Store(p)
	return p, nil
}
