package webhook

import (
	"context"
	"sync"

	registration "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kadmission "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
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
	return cel.NewConditionCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
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
		return false, err
	}
	attributes, err := attributesOf(q, current)
	if err != nil {
		return false, errors.NewInternalError(err)
	}
	h.conditions.once.Do(h.conditions.compile)
	found := h.conditions.matcher.Match(ctx, attributes, nil, p.authorizer)
	if found.Error != nil {
		return false, errors.NewForbidden(q.Resource.GroupResource(), q.Name, found.Error)
	}
	return found.Matches, nil
}

// attributesOf returns the attributes of a request in the form of the CEL library.
//
// Both objects are in the version that the hook sees. The library wants them in two places.
func attributesOf(q *admission.Request, current *state) (*kadmission.VersionedAttributes, error) {
	options, err := optionsOf(q)
	if err != nil {
		return nil, err
	}
	record := kadmission.NewAttributesRecord(objectOf(current.object), objectOf(current.old), q.Kind, q.Namespace, q.Name, q.Resource,
		q.Subresource, kadmission.Operation(q.Operation), options, q.DryRun,
		&user.DefaultInfo{Name: q.User.Name, UID: q.User.UID, Groups: q.User.Groups, Extra: q.User.Extra})
	out := &kadmission.VersionedAttributes{Attributes: record, VersionedKind: current.at.Kind}
	if o := objectOf(current.object); o != nil {
		out.VersionedObject.Set(o)
	}
	if o := objectOf(current.old); o != nil {
		out.VersionedOldObject.Set(o)
	}
	return out, nil
}

// objectOf returns an object in the form of the CEL library, or nil for an absent one.
func objectOf(v value.Value) runtime.Object {
	content, isObject := v.ToAny().(map[string]any)
	if !isObject {
		return nil
	}
	return &unstructured.Unstructured{Object: content}
}

// optionsOf returns the options of a request in their Go type.
//
// A connection has no options, and gets empty ones.
func optionsOf(q *admission.Request) (runtime.Object, error) {
	var options runtime.Object
	switch q.Operation {
	case admission.Create:
		options = &metav1.CreateOptions{}
	case admission.Update:
		options = &metav1.UpdateOptions{}
	default:
		options = &metav1.DeleteOptions{}
	}
	return options, structs.Into(q.Scope.Options(), options)
}
