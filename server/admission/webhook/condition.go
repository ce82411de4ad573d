package webhook

import (
	"context"
	"sync"

	registration "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/admission/expressions"
	bounded "github.com/deed-project/deed/server/cel"
	"github.com/deed-project/deed/value"
)

// Match conditions: CEL expressions that decide whether a hook sees a request, beyond rules and selectors. The library evaluates them on
// its own types, so the request is converted for each hook with conditions:
//
//	all true             the hook is called
//	one false            the hook is not called, even if another one fails
//	none false, one failed   the failure policy decides

// conditions holds the match conditions of a hook, in CEL. The first call compiles them, because CEL takes milliseconds. Nil means no
// conditions.
//
// once guards matcher. list and hook do not change.
type conditions struct {
	list []registration.MatchCondition
	hook *Hook

	once    sync.Once
	matcher matchconditions.Matcher
}

// newConditions returns the conditions of a hook, nil for none. It compiles nothing yet.
func newConditions(list []registration.MatchCondition, h *Hook) *conditions {
	if len(list) == 0 {
		return nil
	}
	return &conditions{list: list, hook: h}
}

// compiler returns the compiler of conditions that the process shares.
var compiler = sync.OnceValue(func() cel.ConditionCompiler {
	return cel.NewConditionCompiler(bounded.Environment())
})

// compile compiles all conditions. One that does not compile fails when it is evaluated.
func (c *conditions) compile() {
	expressions := make([]cel.ExpressionAccessor, len(c.list))
	for i := range c.list {
		expressions[i] = (*matchconditions.MatchCondition)(&c.list[i])
	}
	evaluator := compiler().CompileCondition(expressions, cel.OptionalVariableDeclarations{HasAuthorizer: true},
		environment.StoredExpressions)
	policy := registration.Fail
	if c.hook.failOpen {
		policy = registration.Ignore
	}
	c.matcher = matchconditions.NewMatcher(evaluator, &policy, "webhook", "", c.hook.name)
}

// meets reports whether a request meets the conditions of a hook that would see it at the endpoint. The error is a 403: a condition failed
// to evaluate, and the hook must not be skipped.
func (p *Hooks) meets(ctx context.Context, h *Hook, q *admission.Request, current *state, at admission.Endpoint) (bool, error) {
	if err := current.show(q, at); err != nil {
		return false, h.unconverted(err)
	}
	options, err := expressions.Options(q)
	if err != nil {
		return false, errors.NewInternalError(err)
	}
	lazy := func(v value.Value) runtime.Object { return expressions.Lazy(v, q.Scope.New(at)) }
	attributes := expressions.Attributes(q, at.Kind, lazy(current.object), lazy(current.old), options)
	h.conditions.once.Do(h.conditions.compile)
	found := h.conditions.matcher.Match(ctx, attributes, nil, p.authorizer)
	if found.Error != nil {
		return false, errors.NewForbidden(q.Resource.GroupResource(), q.Name, found.Error)
	}
	return found.Matches, nil
}
