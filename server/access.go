package server

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/server/auth/nodes"
	"github.com/deed-project/deed/server/auth/rbac"
	"github.com/deed-project/deed/server/auth/writes"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/controllers"
	"github.com/deed-project/deed/server/registry"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// Who may do what by stored objects: the parts of a server that a configuration switches on.

// authorizeAsConfigured makes the authorizers of the configuration decide: its own, policies of ABAC, the one for nodes, and roles. What one of
// them allows is allowed.
func (s *Server) authorizeAsConfigured(c Config, objects store.Store, always []*catalog.Resource) {
	s.access.Authorizer = c.Authorize
	if c.ABAC != nil {
		s.also(c.ABAC.Authorize, c.ABAC.Rules)
	}
	if c.Nodes {
		of := &nodes.Authorizer{Store: objects, Role: rbac.NodeRole(), Log: s.log}
		s.also(of.Authorize, of.Rules)
	}
	if c.RBAC {
		s.authorizeByRoles(objects, always)
	}
}

// authorizeByRoles makes the stored roles and bindings decide, too.
func (s *Server) authorizeByRoles(objects store.Store, always []*catalog.Resource) {
	resource := func(plural string) *catalog.Resource { return resourceIn(always, rbac.Group, plural) }
	s.rbac = rbac.New(objects, resource, s.log)
	s.also(s.rbac.Authorize, s.rbac.Rules)
	s.aggregation = &controllers.Aggregation{Store: objects, Roles: resource("clusterroles"), Client: s.client, Report: s.background.Report}
}

// resourceIn returns the resource of a group that has a plural. It must be one of the list.
func resourceIn(list []*catalog.Resource, group, plural string) *catalog.Resource {
	return list[slices.IndexFunc(list, func(r *catalog.Resource) bool { return r.Group == group && r.Plural == plural })]
}

// also makes an authorizer decide beside those before it. The rules of these are unknown unless they have a resolver.
func (s *Server) also(decide auth.Authorizer, rules auth.RuleResolver) {
	switch a := s.access; {
	case a.Authorizer == nil:
		a.Authorizer, a.Rules = decide, rules
	case a.Rules == nil:
		a.Authorizer, a.Rules = either(a.Authorizer, decide), incomplete(rules)
	default:
		a.Authorizer, a.Rules = either(a.Authorizer, decide), joined(a.Rules, rules)
	}
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

// joined returns a resolver with the rules of two.
func joined(a, b auth.RuleResolver) auth.RuleResolver {
	return func(ctx context.Context, u auth.User, namespace string) auth.Rules {
		out, more := a(ctx, u, namespace), b(ctx, u, namespace)
		out.Resources, out.Paths = slices.Concat(out.Resources, more.Resources), slices.Concat(out.Paths, more.Paths)
		out.Incomplete = out.Incomplete || more.Incomplete
		if out.Error != "" && more.Error != "" {
			out.Error += ", "
		}
		out.Error += more.Error
		return out
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

// permit returns the function that asks for what a user needs beside the permission to write an object.
func (s *Server) permit(objects store.Store) func(q *rest.Request, object, live value.Value, found field.ErrorList) (field.ErrorList, error) {
	p := writes.Permissions{Allows: s.access.Allows, Store: objects, Catalog: s.catalog, Minor: s.release.minor()}
	return func(q *rest.Request, object, live value.Value, found field.ErrorList) (field.ErrorList, error) {
		return p.Faults(q.Context(), q.Version.GroupResource(), q.Target.Subresource, object, live, found)
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
