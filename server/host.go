package server

import (
	"context"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/aggregation"
	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/server/auth/rbac"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/controllers"
	"github.com/deed-project/deed/server/flowcontrol"
	"github.com/deed-project/deed/server/registry/namespaces"
	"github.com/deed-project/deed/server/registry/policies"
	"github.com/deed-project/deed/server/registry/webhooks"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/rest/write"
)

// host is the server as writes see it: write.Host.
//
// It joins packages that must not know each other: write calls it, and it calls the controllers.
type host struct {
	definitions *controllers.Definitions
	deletions   *controllers.Deletions
	webhooks    *controllers.Webhooks
	policies    *controllers.Policies
	aggregator  *aggregation.Aggregator
	rbac        *rbac.Authorizer        // nil if roles do not decide
	flows       *flowcontrol.Controller // nil without priority and fairness
	background  *controllers.Background
	release     emulation
	access      *auth.Access
}

// User returns the user who sends a request.
func (h *host) User(ctx context.Context) admission.User { return admission.User(auth.UserOf(ctx)) }

// Allows asks the authorizer about a verb for the object that a request names.
func (h *host) Allows(q *rest.Request, verb string) (allowed bool, reason string) {
	t := q.Target
	return h.access.Allows(q.Context(), auth.UserOf(q.Context()), auth.Action{
		Verb: verb, Group: t.Group, Version: t.Version, Resource: t.Resource, Namespace: t.Namespace, Name: t.Name,
	})
}

// SharingStorage returns the versions in which the objects of a resource are served.
func (h *host) SharingStorage(r *catalog.Resource) []*catalog.Version {
	return h.definitions.Catalog().SharingStorage(r)
}

// Resource returns a resource that is served, nil if it is not served.
func (h *host) Resource(of kschema.GroupResource) *catalog.Resource {
	return h.definitions.Catalog().Lookup(of.Group, of.Resource)
}

// Minor returns the number of the minor release that the server is.
func (h *host) Minor() int { return h.release.minor() }

// Stored reacts to a write: a definition, a configuration or a policy may have changed, or an object is gone that a deletion waits for.
//
// A definition is served, and a configuration or policy used, when it returns: the client may rely on that once it has the answer. Deletions go on in
// the background. The context of the request must not end what the server owes to its state, so only its values are used.
func (h *host) Stored(ctx context.Context, q *rest.Request, event write.Event) {
	isDefinition := q.Version.Prefix == h.definitions.Prefix
	if isDefinition {
		h.background.Report("definitions are not settled", h.definitions.Sync(context.WithoutCancel(ctx)))
		h.background.Report("APIServices are not registered", h.aggregator.Settle(context.WithoutCancel(ctx)))
	}
	if q.Version.Group == aggregation.Group {
		h.background.Report("APIServices are not settled", h.aggregator.Sync(context.WithoutCancel(ctx)))
	}
	if webhooks.IsConfiguration(q.Version.Group, q.Version.Plural) {
		h.background.Report("webhooks are not settled", h.webhooks.Sync(context.WithoutCancel(ctx)))
	}
	if policies.Is(q.Version.Group, q.Version.Plural) {
		h.background.Report("policies are not settled", h.policies.Sync(context.WithoutCancel(ctx)))
	}
	if h.rbac != nil && q.Version.Group == rbac.Group {
		h.rbac.Changed()
	}
	if h.flows != nil && q.Version.Group == flowcontrol.Group {
		h.flows.Changed()
	}
	switch {
	case event == write.WasMarked && isDefinition:
		h.deletions.Definition(q.ObjectName)
	case event == write.WasMarked && q.Version.GroupResource() == namespaces.Resource:
		h.deletions.Namespace(q.ObjectName)
	case event == write.WasRemoved:
		version, namespace := q.Version, q.Target.Namespace
		h.background.Go(func(ctx context.Context) { h.deletions.Removed(ctx, version, namespace) })
	}
}
