package server

import (
	"context"
	"slices"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/server/auth/rbac"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/controllers"
	"github.com/deed-project/deed/server/registry"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// Who may do what by stored objects: the parts of a server that a configuration switches on.

// authorizeByRoles makes the stored roles and bindings decide, beside the authorizer of the configuration.
func (s *Server) authorizeByRoles(c Config, objects store.Store, always []*catalog.Resource) {
	resource := func(plural string) *catalog.Resource {
		return always[slices.IndexFunc(always, func(r *catalog.Resource) bool { return r.Group == rbac.Group && r.Plural == plural })]
	}
	s.rbac = rbac.New(objects, resource, s.log)
	s.access.Authorizer, s.access.Rules = s.rbac.Authorize, s.rbac.Rules
	if other := c.Authorize; other != nil {
		s.access.Authorizer, s.access.Rules = either(other, s.rbac.Authorize), incomplete(s.rbac.Rules)
	}
	s.aggregation = &controllers.Aggregation{Store: objects, Roles: resource("clusterroles"), Client: s.client, Report: s.background.Report}
}

// either returns an authorizer that allows what one of two allows. A refusal has the reasons of both.
func either(a, b auth.Authorizer) auth.Authorizer {
	return func(ctx context.Context, u auth.User, action auth.Action) (bool, string) {
		allowed, why := a(ctx, u, action)
		if allowed {
			return true, why
		}
		allowed, reason := b(ctx, u, action)
		if !allowed && why != "" && reason != "" {
			reason = why + "\n" + reason
		} else if !allowed && why != "" {
			reason = why
		}
		return allowed, reason
	}
}

// incomplete returns a resolver whose rules are not all that there are.
func incomplete(rules auth.RuleResolver) auth.RuleResolver {
	return func(ctx context.Context, u auth.User, namespace string) auth.Rules {
		out := rules(ctx, u, namespace)
		out.Incomplete = true
		return out
	}
}

// escalation returns the plugin that refuses roles and bindings which grant more than their writer may do, as a chain. It is empty unless
// roles decide.
func (s *Server) escalation() admission.Chain {
	if s.rbac == nil {
		return nil
	}
	return admission.Chain{admission.Mutate(rbac.Escalation{Authorizer: s.rbac, Allows: s.access.Allows}.Admit)}
}

// startRoles creates the roles and bindings that a cluster begins with, and aggregates ClusterRoles from then on.
func (s *Server) startRoles(ctx context.Context) error {
	complete, err := s.rbac.Bootstrap(ctx, s.client, s.now())
	if err != nil {
		return err
	}
	s.aggregation.Done = complete
	if err := s.aggregation.Sync(ctx); err != nil {
		return err
	}
	s.background.Go(s.aggregation.Run)
	return nil
}

// coreObject returns a function that returns stored objects of the core group, absent if there are none.
func (s *Server) coreObject(objects store.Store) func(ctx context.Context, plural, namespace, name string) (value.Value, error) {
	return func(ctx context.Context, plural, namespace, name string) (value.Value, error) {
		return registry.Object(ctx, objects, s.catalog().Lookup("", plural).Key(namespace, name))
	}
}
