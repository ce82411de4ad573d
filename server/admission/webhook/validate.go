package webhook

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"

	"github.com/deed-project/deed/server/admission"
)

// invocation is a hook that a request matches, and the objects that it sees.
//
// The goroutine of the call sets answer, err and took. They are read after it has ended.
type invocation struct {
	hook  *Hook
	state *state

	answer *verdict // nil if the call failed
	err    error
	took   time.Duration
}

// Validate calls all matching hooks concurrently. If several refuse, the first in the order of hooks decides. Warnings come in the order of
// hooks too.
//
// Validating hooks cannot change the object, so none waits for another. The request takes as long as the slowest.
func (p *Hooks) Validate(ctx context.Context, q *admission.Request) error {
	candidates := p.validating.Load().candidates(q)
	if len(candidates) == 0 {
		return nil
	}
	invocations, err := p.invocations(ctx, q, candidates)
	if err != nil || len(invocations) == 0 {
		return err
	}
	// The time is over already: call none.
	if ctx.Err() != nil {
		return timedOut()
	}
	var wait sync.WaitGroup
	for _, v := range invocations {
		wait.Go(func() { p.invoke(ctx, q, v) })
	}
	wait.Wait()
	return p.decide(ctx, q, invocations)
}

// invocations returns the hooks that a request matches. Hooks of the same endpoint share one state, so that the objects are converted once
// per endpoint.
//
// The states are read by several goroutines afterwards, and not changed any more.
func (p *Hooks) invocations(ctx context.Context, q *admission.Request, candidates []candidate) ([]*invocation, error) {
	var out []*invocation
	var states []*state
	free := &state{} // the state for the next endpoint; it keeps the labels that earlier matches computed
	for _, c := range candidates {
		at, err := p.match(ctx, c, q, free)
		if err != nil {
			return nil, err
		}
		if at == nil {
			if free.seen { // match conditions loaded it for an endpoint whose hook is not called
				free = &state{}
			}
			continue
		}
		current := free
		for _, s := range states {
			if s.at == *at {
				current = s
			}
		}
		if err := current.show(q, *at); err != nil {
			return nil, c.unconverted(err)
		}
		if free.seen {
			free = &state{}
		}
		states = append(states, current)
		out = append(out, &invocation{hook: c.Hook, state: current})
	}
	return out, nil
}

// invoke calls a hook. It turns a panic into a refusal, because a panic in this goroutine would end the process.
func (p *Hooks) invoke(ctx context.Context, q *admission.Request, v *invocation) {
	since := time.Now()
	defer func() {
		v.took = time.Since(since)
		if r := recover(); r != nil {
			v.err = errors.NewInternalError(fmt.Errorf("ValidatingAdmissionWebhook/%s has panicked: %v", v.hook.name, r))
		}
	}()
	v.answer, v.err = p.consult(ctx, v.hook, q, v.state)
}

// decide records all outcomes and returns the first refusal.
//
// All outcomes are recorded, even after the first refusal. The failures that a policy ignores are logged.
func (p *Hooks) decide(ctx context.Context, q *admission.Request, invocations []*invocation) error {
	var refusal error
	var calls []Call
	for i, v := range invocations {
		note := notes{q, v.hook, 0, i}
		err := v.err
		if err == nil {
			note.answered(v.answer)
			q.Warn(v.answer.Warnings...)
			if !v.answer.Allowed {
				err = v.hook.denied(v.answer.Status)
			}
		}
		calls = append(calls, callOf(v.hook, q, v.took, err))
		if refused := v.hook.outcome(ctx, err); refused != nil {
			if refusal == nil {
				refusal = refused
			}
		} else if err != nil {
			p.passedOver(v.hook, err)
			note.failedOpen()
		}
	}
	p.called(ctx, calls...)
	return refusal
}
