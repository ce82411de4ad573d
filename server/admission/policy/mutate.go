package policy

import (
	"context"
	stderrors "errors"
	"fmt"

	registration "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission/plugin/cel"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/value"
)

// Mutating policies run one after the other, since each sees what the others before it did. Plugins that change the object later may cause
// a second pass, in which only policies run that want it. The states of both passes are those of package webhook:
//
//	pass 0   a: called = a    b changes the object: due = a    c: called = c
//	pass 1   a                                                             b and c have seen the latest object

// passes is what the first pass of policies over a request hands to the second.
//
// It belongs to the request, by Request.Remember.
type passes struct {
	called, due map[reference]bool
	output      value.Value // the object after the first pass
}

// reference names an invocation.
type reference struct {
	policy, binding, paramNamespace, paramName string
}

// changed moves the invocations that were called before to due.
func (p *passes) changed() {
	for r := range p.called {
		if p.due == nil {
			p.due = map[reference]bool{}
		}
		p.due[r] = true
	}
	clear(p.called)
}

// policyError is a failure of a policy that refuses the request.
type policyError struct {
	message string
	reason  metav1.StatusReason
}

// Mutate evaluates the mutating policies that a request matches, and changes the object of q. Failures of policies refuse the request,
// unless their failure policies ignore them.
//
// A policy that fails in the middle keeps what its earlier mutations changed, as in kube-apiserver. A delete has nothing to mutate.
func (p *Policies) Mutate(ctx context.Context, q *admission.Request) error {
	candidates := p.mutating.Load().candidates(q)
	if len(candidates) == 0 || q.Operation == admission.Delete {
		return nil
	}
	m := &mutating{evaluation: p.begin(q)}
	m.typed = true
	var found []invocation
	for _, of := range m.invocations(ctx, candidates) {
		if of.err != nil {
			m.fail(of, of.err, "")
			continue
		}
		found = append(found, of)
	}
	if len(found) > 0 {
		if err := m.run(ctx, found); err != nil {
			return err
		}
	}
	return m.refusal()
}

// mutating is one pass of the mutating policies over a request.
type mutating struct {
	*evaluation
	passes *passes
	errs   []policyError
	last   *view // that the last policy changed, or left
}

// run evaluates policies. The error answers the request at once.
func (m *mutating) run(ctx context.Context, found []invocation) error {
	if err := m.checkNamespace(ctx); err != nil {
		return err
	}
	m.begin()
	defer m.end()
	for _, of := range found {
		if err := m.invoke(ctx, of); err != nil {
			return err
		}
	}
	if m.last == nil || !m.last.changed {
		return nil
	}
	m.passes.changed()
	m.q.Again()
	m.q.Patched()
	if !m.last.patched { // so that the empty lists that were sent stay
		return nil
	}
	object, err := m.q.Scope.Convert(m.last.object, m.last.at, m.q.Endpoint)
	if err != nil {
		return errors.NewInternalError(fmt.Errorf("failed to convert object: %w", err))
	}
	m.q.Object = admission.DocumentOf(object)
	return nil
}

// begin loads the state of the first pass. If another plugin changed the object since, the policies of that pass are due.
func (m *mutating) begin() {
	kept, ok := m.q.Memory(m.Policies).(*passes)
	if !ok {
		kept = &passes{}
	}
	m.passes = kept
	if m.q.Pass() > 0 {
		if now, err := m.q.Object.Document(); err == nil && !now.Equal(kept.output) {
			kept.changed()
		}
	}
}

// end keeps the state for the second pass.
func (m *mutating) end() {
	if m.q.Pass() > 0 {
		return
	}
	if output, err := m.q.Object.Document(); err == nil {
		m.passes.output = output
		m.q.Remember(m.Policies, m.passes)
	}
}

// invoke evaluates a policy. The error answers the request at once.
func (m *mutating) invoke(ctx context.Context, of invocation) error {
	c := of.policy.expressionsOf()
	if c.err != nil {
		m.fail(of, c.err, metav1.StatusReasonInvalid)
		return nil
	}
	view, err := m.view(of.at, true)
	if err != nil {
		return errors.NewInternalError(err)
	}
	if err := m.show(view, &c.used); err != nil {
		return errors.NewInternalError(err)
	}
	params, err := of.param.shown(false)
	if err != nil {
		return errors.NewInternalError(err)
	}
	bindings := cel.OptionalVariableBindings{VersionedParams: params, Authorizer: m.authorizerFor(&c.used)}
	if c.matcher != nil {
		met := c.matcher.Match(ctx, view.attributes, bindings.VersionedParams, bindings.Authorizer)
		if met.Error != nil {
			m.fail(of, met.Error, metav1.StatusReasonInvalid)
		}
		if met.Error != nil || !met.Matches {
			return nil
		}
	}
	by := reference{of.policy.name, of.binding.name, of.param.namespace, of.param.name}
	if m.q.Pass() > 0 && !m.passes.due[by] {
		return nil
	}
	before := view.object
	if err := m.mutate(ctx, c, of, view, bindings); err != nil {
		return err
	}
	if !before.Equal(view.object) {
		m.passes.changed()
		m.q.Again()
	}
	if of.policy.reinvoked {
		if m.passes.called == nil {
			m.passes.called = map[reference]bool{}
		}
		m.passes.called[by] = true
	}
	return nil
}

// mutate evaluates the mutations of a policy in order. The error answers the request at once.
func (m *mutating) mutate(ctx context.Context, c *compiled, of invocation, view *view, bindings cel.OptionalVariableBindings) error {
	if len(of.policy.mutations) > 0 {
		m.last = view
	}
	if view.object.IsAbsent() {
		return nil
	}
	namespace, err := m.namespace(ctx, c)
	if err != nil {
		return err
	}
	within := c.compiler.CreateContext(ctx)
	for i, by := range of.policy.mutations {
		p := &patcher{evaluation: m.evaluation, view: view, of: of, bindings: bindings, namespace: namespace, evaluator: c.mutations[i]}
		patch := p.jsonPatch
		if by.PatchType == registration.PatchTypeApplyConfiguration {
			patch = p.applyConfiguration
		}
		object, err := patch(within)
		var status *errors.StatusError
		switch {
		case stderrors.As(err, &status):
			return status
		case err != nil:
			m.fail(of, err, metav1.StatusReasonInvalid)
			continue
		}
		view.patched = view.patched || !object.Same(view.object)
		view.object, view.shown.object, view.changed = object, false, true
		if err := m.show(view, &c.used); err != nil {
			return errors.NewInternalError(err)
		}
	}
	return nil
}

// fail notes a failure of a policy, unless its failure policy ignores it.
func (m *mutating) fail(of invocation, err error, reason metav1.StatusReason) {
	if of.policy.failOpen {
		return
	}
	message := fmt.Sprintf("policy %q denied request: %s", of.policy.name, err)
	if of.binding != nil {
		message = fmt.Sprintf("policy '%s' with binding '%s' denied request: %s", of.policy.name, of.binding.name, err)
	}
	m.errs = append(m.errs, policyError{message, reason})
}

// refusal returns the answer to a request of which policies failed, nil if none did. The first failure gives its message and reason.
func (m *mutating) refusal() error {
	if len(m.errs) == 0 {
		return nil
	}
	refusal := errors.NewForbidden(m.q.Resource.GroupResource(), m.q.ObjectName(), nil)
	refusal.ErrStatus.Message = m.errs[0].message
	if m.errs[0].reason != "" {
		refusal.ErrStatus.Reason = m.errs[0].reason
	}
	for _, err := range m.errs {
		refusal.ErrStatus.Details.Causes = append(refusal.ErrStatus.Details.Causes, metav1.StatusCause{Message: err.message})
	}
	return refusal
}
