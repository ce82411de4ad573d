package webhook

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	remote "k8s.io/apiserver/pkg/util/webhook"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/logs"
	"github.com/deed-project/deed/value"
)

// Config says how hooks are asked.
type Config struct {
	// Namespace returns a namespace as it is stored, absent if there is none.
	Namespace func(ctx context.Context, name string) (value.Value, error)
	// Services says where services are that configurations name.
	Services remote.ServiceResolver
	// Credentials is a file in the form of a kubeconfig; see docs/apiserver.md. Empty is none.
	Credentials string
	// Authorize answers match conditions that ask what a user may do.
	Authorize Authorize
	// Log is told of failures that are ignored.
	Log logs.Logger
}

// Hooks are the webhooks of a server, as a plugin. They are safe for concurrent use.
type Hooks struct {
	client     *remote.ClientManager
	namespace  func(ctx context.Context, name string) (value.Value, error)
	authorizer decider
	log        logs.Logger

	mutating, validating atomic.Pointer[list]
}

// list is hooks in the order in which they are asked. Its candidates are safe for concurrent use.
type list struct {
	hooks []*Hook

	mu     sync.RWMutex
	byKind map[requestKind][]candidate
}

// New returns a plugin without hooks. The error is about the credentials.
func New(c Config) (*Hooks, error) {
	client, err := newClient(c.Credentials, c.Services)
	if err != nil {
		return nil, err
	}
	p := &Hooks{client: client, namespace: c.Namespace, authorizer: decider{c.Authorize}, log: c.Log}
	p.mutating.Store(&list{})
	p.validating.Store(&list{})
	return p, nil
}

// Use asks the hooks of the given configurations from now on, and no others: those of fixed come first, and each list is in the
// order of names. The error names configurations that cannot be used; the others are.
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

func byName(configurations []value.Value) []value.Value {
	return slices.SortedStableFunc(slices.Values(configurations), func(a, b value.Value) int {
		return strings.Compare(a.Get("metadata", "name").Str(), b.Get("metadata", "name").Str())
	})
}

// consult asks one hook about a request. The error is a *callError, or a refusal whatever the failure policy.
func (p *Hooks) consult(ctx context.Context, h *Hook, q *admission.Request, current *state) (*verdict, error) {
	if err := h.callable(q.DryRun); err != nil {
		return nil, err
	}
	r, err := newReview(h, q, current)
	if err != nil {
		return nil, h.failed("could not create admission objects: %w", err)
	}
	if err := p.ask(ctx, h, r); err != nil {
		return nil, err
	}
	answer, err := r.verdict(h.mutating)
	if err != nil {
		return nil, h.failed("received invalid webhook response: %w", err)
	}
	return answer, nil
}

// passedOver logs a failure that is ignored.
func (p *Hooks) passedOver(h *Hook, err error) {
	p.log.Warn("a webhook failed and is passed over", logs.Name("configuration", h.configuration), logs.Fault(err))
}
