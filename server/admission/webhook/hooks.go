package webhook

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"k8s.io/apiserver/pkg/authorization/authorizer"
	remote "k8s.io/apiserver/pkg/util/webhook"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/admission/expressions"
	"github.com/deed-project/deed/server/admission/match"
	"github.com/deed-project/deed/server/logs"
	"github.com/deed-project/deed/value"
)

// Config says how hooks are called.
type Config struct {
	// Namespace returns a stored namespace, or an absent value if it does not exist.
	Namespace func(ctx context.Context, name string) (value.Value, error)
	// Services resolves the services that configurations name.
	Services remote.ServiceResolver
	// Credentials is a file in the format of a kubeconfig, or empty; see docs/apiserver.md.
	Credentials string
	// Authorize answers match conditions that check permissions.
	Authorize expressions.Authorize
	// Log receives the failures that failure policies ignore.
	Log logs.Logger
	// Called is told of calls that are over, with the context of the request; nil for nothing. Calls that are told together were made
	// concurrently.
	Called func(ctx context.Context, calls ...Call)
}

// Hooks is the plugin that calls the webhooks of a server. It is safe for concurrent use.
//
// The two lists are replaced as a whole. A request works on the list that it found when it began.
type Hooks struct {
	client     *remote.ClientManager
	namespace  func(ctx context.Context, name string) (value.Value, error)
	authorizer authorizer.UnconditionalAuthorizer
	log        logs.Logger
	called     func(ctx context.Context, calls ...Call)

	mutating, validating atomic.Pointer[list]
}

// list holds hooks in calling order. It does not change.
type list struct {
	hooks []*Hook
	known match.Cache[[]candidate]
}

// New returns a plugin without hooks. It fails if the credentials are invalid.
func New(c Config) (*Hooks, error) {
	client, err := newClient(c.Credentials, c.Services)
	if err != nil {
		return nil, err
	}
	if c.Called == nil {
		c.Called = func(context.Context, ...Call) {}
	}
	p := &Hooks{client: client, namespace: c.Namespace, authorizer: expressions.Authorizer(c.Authorize), log: c.Log, called: c.Called}
	p.mutating.Store(&list{})
	p.validating.Store(&list{})
	return p, nil
}

// Use replaces the hooks by those of the given configurations. The hooks of fixed come first, and each list is sorted by name. The error
// names the configurations that do not compile; Use takes the others.
//
// A configuration that does not compile has no hooks here, as if it were not stored.
func (p *Hooks) Use(fixed, stored []value.Value) error {
	var mutating, validating list
	var errs []error
	for _, configurations := range [][]value.Value{fixed, stored} {
		for _, c := range byName(configurations) {
			hooks, err := Compile(c)
			if err != nil {
				errs = append(errs, err)
			}
			if c.Get("kind").Str() == mutatingKind {
				mutating.hooks = append(mutating.hooks, hooks...)
			} else {
				validating.hooks = append(validating.hooks, hooks...)
			}
		}
	}
	p.mutating.Store(&mutating)
	p.validating.Store(&validating)
	return errors.Join(errs...)
}

// byName returns configurations in the order of their names, as kube-apiserver calls them.
func byName(configurations []value.Value) []value.Value {
	return slices.SortedStableFunc(slices.Values(configurations), func(a, b value.Value) int {
		return strings.Compare(a.Get("metadata", "name").Str(), b.Get("metadata", "name").Str())
	})
}

// consult calls one hook for a request. The error is a *callError, which the failure policy handles, or a refusal that it does not.
//
// current must be at the endpoint that the hook sees.
func (p *Hooks) consult(ctx context.Context, h *Hook, q *admission.Request, current *state) (*verdict, error) {
	if err := h.callable(q.DryRun); err != nil {
		return nil, err
	}
	r, err := newReview(h, q, current)
	if err != nil {
		return nil, h.failed(http.StatusBadRequest, "could not create admission objects: %w", err)
	}
	if err := p.ask(ctx, h, r); err != nil {
		return nil, err
	}
	answer, err := r.verdict(h.mutating)
	if err != nil {
		return nil, h.failed(http.StatusServiceUnavailable, "received invalid webhook response: %w", err)
	}
	return answer, nil
}

// passedOver logs a failure that the failure policy ignores.
func (p *Hooks) passedOver(h *Hook, err error) {
	p.log.Warn("a webhook failed and is passed over", logs.Name("configuration", h.configuration), logs.Fault(err))
}
