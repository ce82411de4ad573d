package webhook

import (
	"context"

	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/deed-project/deed/server/admission"
)

// Action is the action whose permission a match condition checks.
type Action struct {
	Verb                                  string
	Group, Version, Resource, Subresource string
	Namespace, Name                       string
	Path                                  string // of a request that names no resource
}

// Authorize reports whether a user may perform an action. The reason explains a refusal.
type Authorize func(ctx context.Context, u admission.User, a Action) (allowed bool, reason string)

// decider adapts Authorize to the CEL library's authorizer interface.
type decider struct{ authorize Authorize }

// Authorize returns the decision about the attributes.
//
// A refusal is "no opinion", as from most authorizers of kube-apiserver.
func (d decider) Authorize(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	u := admission.User{
		Name: a.GetUser().GetName(), UID: a.GetUser().GetUID(), Groups: a.GetUser().GetGroups(), Extra: a.GetUser().GetExtra(),
	}
	action := Action{Verb: a.GetVerb(), Path: a.GetPath()}
	if a.IsResourceRequest() {
		action = Action{
			Verb: a.GetVerb(), Group: a.GetAPIGroup(), Version: a.GetAPIVersion(), Resource: a.GetResource(),
			Subresource: a.GetSubresource(), Namespace: a.GetNamespace(), Name: a.GetName(),
		}
	}
	allowed, reason := d.authorize(ctx, u, action)
	if !allowed {
		return authorizer.DecisionNoOpinion, reason, nil
	}
	return authorizer.DecisionAllow, reason, nil
}
