package webhook

import (
	"context"
	"fmt"
	"net/http"
	"time"

	reviewv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/errors"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/jsonpatch"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// Calling mutating hooks. They run one after the other, since each sees what the others before it did. One pass over hooks a, b, c, of
// which a and c have the reinvocation policy IfNeeded:
//
//	pass 0   a: called = a    b changes the object: due = a    c: called = c
//	pass 1   a                                                              b and c have seen the latest object
//
// The object is held at the endpoint of the last hook, and converted only when the next hook wants another one; see state.

// passes is the state that the first pass of hooks over a request hands to the second.
//
//	a hook with reinvocation is called  →  the hook joins called
//	a hook changes the object           →  called moves to due, and the request asks for a second pass
//	in the second pass                  →  only the hooks of due are called
//
// It belongs to the request, by Request.Remember.
type passes struct {
	called, due map[*Hook]bool
	output      value.Value // the object after the first pass
}

// changed moves the hooks that were called before to due.
func (p *passes) changed() {
	for h := range p.called {
		if p.due == nil {
			p.due = map[*Hook]bool{}
		}
		p.due[h] = true
	}
	clear(p.called)
}

// Mutate calls the mutating hooks in order and applies their patches to the object of q.
func (p *Hooks) Mutate(ctx context.Context, q *admission.Request) error {
	candidates := p.mutating.Load().candidates(q)
	if len(candidates) == 0 {
		return nil
	}
	m := &mutation{hooks: p, q: q}
	return m.run(ctx, candidates)
}

// mutation is one pass of the hooks over a request.
type mutation struct {
	hooks *Hooks
	q     *admission.Request
	state
	passes *passes
}

func (m *mutation) run(ctx context.Context, candidates []candidate) error {
	m.begin()
	for _, c := range candidates {
		// Conditions and selectors are evaluated also for hooks that are not due, as their errors refuse the request.
		at, err := m.hooks.match(ctx, c, m.q, &m.state)
		if err != nil {
			return err
		}
		if at == nil || m.q.Pass() > 0 && !m.passes.due[c.Hook] {
			continue
		}
		if err := m.show(m.q, *at); err != nil {
			return c.unconverted(err)
		}
		if err := m.call(ctx, c.Hook, c.index); err != nil {
			return err
		}
	}
	return m.end()
}

// begin loads the state of the previous pass. If another plugin changed the object since, the hooks of that pass are due.
//
// The comparison is with the whole object, managed fields included.
func (m *mutation) begin() {
	kept, ok := m.q.Memory(m.hooks).(*passes)
	if !ok {
		kept = &passes{}
	}
	m.passes = kept
	if m.q.Pass() > 0 && ok {
		if now, err := m.q.Object.Document(); err == nil && !now.Equal(kept.output) {
			kept.changed()
		}
	}
}

// end writes the object back to the request, converted to its endpoint.
//
// The state is kept only for a second pass that could need it.
func (m *mutation) end() error {
	if err := m.giveBack(m.q); err != nil {
		return err
	}
	if m.q.Pass() > 0 || len(m.passes.called)+len(m.passes.due) == 0 {
		return nil
	}
	m.q.Remember(m.hooks, m.passes)
	var err error
	m.passes.output, err = m.q.Object.Document()
	return err
}

// call calls the i-th hook and records the outcome.
//
// A hook that fails and is ignored has seen the object, too, and may be called again.
func (m *mutation) call(ctx context.Context, h *Hook, i int) error {
	note, since := notes{m.q, h, m.q.Pass(), i}, time.Now()
	changed, err := m.ask(ctx, h, note)
	m.hooks.called(ctx, callOf(h, m.q, time.Since(since), err))
	note.mutated(changed)
	if changed {
		m.passes.changed()
		m.q.Again()
	}
	if h.again {
		if m.passes.called == nil {
			m.passes.called = map[*Hook]bool{}
		}
		m.passes.called[h] = true
	}
	if refusal := h.outcome(ctx, err); refusal != nil {
		return refusal
	}
	if err != nil {
		m.hooks.passedOver(h, err)
		note.failedOpen()
	}
	return nil
}

// ask calls a hook and applies its patch. It reports whether the patch changed the object.
//
// Warnings are passed on also from a hook that refuses. Faults of the response are the hook's, and a patch that cannot be applied is an
// error of the request, as in kube-apiserver.
func (m *mutation) ask(ctx context.Context, h *Hook, note notes) (changed bool, err error) {
	answer, err := m.hooks.consult(ctx, h, m.q, &m.state)
	if err != nil {
		return false, err
	}
	note.answered(answer)
	m.q.Warn(answer.Warnings...)
	if !answer.Allowed {
		return false, h.denied(answer.Status)
	}
	if len(answer.Patch) == 0 {
		return false, nil
	}
	patch, err := jsonpatch.Decode(answer.Patch)
	switch {
	case err != nil:
		return false, h.failed(http.StatusServiceUnavailable, "received undecodable patch in webhook response: %w", err)
	case len(patch) == 0:
		return false, nil
	case m.object.IsAbsent():
		return false, errors.NewInternalError(fmt.Errorf(
			"admission webhook %q attempted to modify the object, which is not supported for this operation", h.name))
	case answer.PatchType != reviewv1.PatchTypeJSONPatch:
		return false, h.failed(http.StatusBadRequest, "unsupported patch type %q", answer.PatchType)
	}
	if changed, err = m.patch(ctx, patch); err != nil {
		return false, errors.NewInternalError(err)
	}
	note.patched(patch)
	return changed, nil
}

// patch applies a patch to the object, and reports whether the object changed.
//
// The outcome is read from its text, since a patch may write what no object of the kind has. An object that was never read from a text
// counts as changed by its first patch; see [admission.Request.Unread].
func (m *mutation) patch(ctx context.Context, patch jsonpatch.Patch) (changed bool, err error) {
	text, err := jsonpatch.Text(ctx, patch, m.object)
	if err != nil {
		return false, err
	}
	sent, defaulted, err := m.q.Scope.Read(text, m.at)
	if err != nil {
		return false, err
	}
	changed = !m.means(sent, m.object) || m.q.Unread()
	m.object, m.now, m.dirty = defaulted, nil, true
	m.q.Patched()
	return changed, nil
}

// means reports whether two objects mean the same. For the Go type of a built-in kind, 1Gi is 1073741824, and null an empty list.
func (m *mutation) means(a, b value.Value) bool {
	x, y := m.q.Scope.New(m.at), m.q.Scope.New(m.at)
	if a.Equal(b) || x == nil {
		return a.Equal(b)
	}
	return structs.Into(a, x) == nil && structs.Into(b, y) == nil && equality.Semantic.DeepEqual(x, y)
}
