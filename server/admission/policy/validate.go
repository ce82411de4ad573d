package policy

import (
	"context"
	"encoding/json"
	stderrors "errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/google/cel-go/common/types"
	registration "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	kcel "k8s.io/apiserver/pkg/cel"

	"github.com/deed-project/deed/server/admission"
)

// Bounds of kube-apiserver on what policies write.
const (
	maxFailures   = 50       // in the annotation of failures
	maxAnnotation = 10 << 10 // bytes of the value of an annotation
	maxMessage    = celconfig.MaxEvaluatedMessageExpressionSizeBytes
)

// finding is what a validation found: why it does not hold, or that it could not be evaluated.
type finding struct {
	message string
	reason  metav1.StatusReason // empty for a failure of the policy itself
	index   int                 // of the validation
}

// Validate evaluates the validating policies that a request matches. Each finding does what the binding says: it refuses the request, warns,
// or goes to the audit event. A failure of a policy is a finding, unless its failure policy ignores it. The first refusal is the error.
//
// All policies are evaluated even after a refusal, since later ones may warn.
func (p *Policies) Validate(ctx context.Context, q *admission.Request) error {
	candidates := p.validating.Load().candidates(q)
	if len(candidates) == 0 {
		return nil
	}
	v := &validating{evaluation: p.begin(q)}
	for i, of := range v.invocations(ctx, candidates) {
		if i > 0 && of.policy != v.last {
			v.publish()
		}
		v.last = of.policy
		if err := v.invoke(ctx, of); err != nil {
			return err
		}
	}
	v.publish()
	v.noteFailures()
	return v.refusal
}

// validating is a pass of the validating policies over a request.
type validating struct {
	*evaluation
	last        *policy
	refusal     error               // the first one
	failures    []failure           // of bindings that want them in the audit event
	annotations map[string][]string // of the last policy, by key
}

// failure is a finding in the audit event.
type failure struct {
	Message           string                          `json:"message"`
	Policy            string                          `json:"policy"`
	Binding           string                          `json:"binding"`
	ExpressionIndex   int                             `json:"expressionIndex"`
	ValidationActions []registration.ValidationAction `json:"validationActions"`
}

// invoke evaluates a policy, and acts on its findings. The error answers the request at once.
func (v *validating) invoke(ctx context.Context, of invocation) error {
	if of.err == nil {
		if err := v.checkNamespace(ctx); err != nil {
			return err
		}
		var view *view
		c := of.policy.expressionsOf()
		if view, of.err = v.view(of.at, c.used.entries); of.err == nil {
			return v.evaluate(ctx, of, c, view)
		}
		of.err = fmt.Errorf("failed to configure binding: failed to convert object version: %w", of.err)
	}
	if !of.policy.failOpen {
		v.refuse(of, finding{message: of.err.Error()})
	}
	return nil
}

// evaluate evaluates the expressions of a policy in the order of kube-apiserver: match conditions, validations, messages, annotations. All
// but the match conditions share one budget of cost.
func (v *validating) evaluate(ctx context.Context, of invocation, c *compiled, view *view) error {
	if err := v.show(view, &c.used); err != nil {
		return errors.NewInternalError(err)
	}
	namespace, err := v.namespace(ctx, c)
	if err != nil {
		return err
	}
	if c.err != nil {
		v.fail(of, c.err)
		return nil
	}
	params, err := of.param.shown(true)
	if err != nil {
		return errors.NewInternalError(err)
	}
	authz := v.authorizerFor(&c.used)
	if c.matcher != nil {
		met := c.matcher.Match(ctx, view.attributes, params, authz)
		if met.Error != nil {
			v.fail(of, met.Error)
		}
		if met.Error != nil || !met.Matches {
			return nil
		}
	}
	in := &inputs{view, of, cel.OptionalVariableBindings{VersionedParams: params, Authorizer: authz}, cel.CreateNamespaceObject(namespace)}
	findings, err := in.findings(ctx, c)
	if err == nil {
		for _, found := range findings {
			v.act(of, found)
		}
		err = v.annotate(ctx, c, in)
	}
	if err != nil {
		v.fail(of, err)
	}
	return nil
}

// inputs are what the expressions of a validating policy read.
type inputs struct {
	view      *view
	of        invocation
	bindings  cel.OptionalVariableBindings
	namespace *corev1.Namespace
}

// results evaluates expressions within a budget, and returns what is left of that.
func (in *inputs) results(ctx context.Context, of cel.ConditionEvaluator, budget int64) ([]cel.EvaluationResult, int64, error) {
	return of.ForInput(ctx, in.view.attributes, in.view.request(in.of.at.Resource), in.bindings, in.namespace, budget)
}

// findings evaluates the validations and their messages. The error says that the budget is exhausted.
//
// Messages are evaluated even if all validations hold: their failure counts, if the budget is exhausted.
func (in *inputs) findings(ctx context.Context, c *compiled) ([]finding, error) {
	results, budget, err := in.results(ctx, c.validations, celconfig.RuntimeCELCostBudget)
	if err != nil {
		return nil, err
	}
	var messages []cel.EvaluationResult
	if c.messages != nil {
		within := *in
		within.bindings.Authorizer = nil
		messages, _, err = within.results(ctx, c.messages, budget)
	}
	var out []finding
	for i, result := range results {
		var message *cel.EvaluationResult
		if i < len(messages) {
			message = &messages[i]
		}
		failed := result.Error
		if failed == nil && (stderrors.Is(err, kcel.ErrInternal) || stderrors.Is(err, kcel.ErrOutOfBudget)) {
			failed = fmt.Errorf("failed messageExpression: %w", err)
		}
		validation := in.of.policy.validations[i]
		switch {
		case failed != nil && !in.of.policy.failOpen:
			out = append(out, finding{failed.Error(), "", i})
		case failed == nil && result.EvalResult != types.True:
			reason := metav1.StatusReasonInvalid
			if validation.Reason != nil {
				reason = *validation.Reason
			}
			out = append(out, finding{messageOf(validation, message), reason, i})
		}
	}
	return out, nil
}

// messageOf returns the message of a validation that does not hold: the outcome of its expression if that is a short line, else its own
// text, else its expression.
func messageOf(v registration.Validation, of *cel.EvaluationResult) string {
	if of != nil && of.Error == nil && of.EvalResult != nil {
		if text, ok := of.EvalResult.Value().(string); ok {
			text = strings.TrimSpace(text)
			if text != "" && len(text) <= maxMessage && !strings.Contains(text, "\n") {
				return text
			}
		}
	}
	if text := strings.TrimSpace(v.Message); text != "" {
		return text
	}
	return "failed expression: " + strings.TrimSpace(v.Expression)
}

// annotate evaluates the audit annotations. One that cannot be evaluated refuses the request, whatever the binding says. The error says that
// the budget is exhausted.
func (v *validating) annotate(ctx context.Context, c *compiled, in *inputs) error {
	if len(in.of.policy.annotations) == 0 {
		return nil
	}
	within := *in
	within.bindings.Authorizer = nil
	results, _, err := within.results(ctx, c.annotations, celconfig.RuntimeCELCostBudget)
	if err != nil {
		return err
	}
	for i, result := range results {
		if result.Error != nil {
			if !in.of.policy.failOpen {
				v.refuse(in.of, finding{message: result.Error.Error()})
			}
			continue
		}
		text, isText := result.EvalResult.Value().(string)
		if text = strings.TrimSpace(text); !isText || text == "" {
			continue
		}
		key := in.of.policy.annotations[i].Key
		if text = text[:min(len(text), maxAnnotation)]; !slices.Contains(v.annotations[key], text) {
			if v.annotations == nil {
				v.annotations = map[string][]string{}
			}
			v.annotations[key] = append(v.annotations[key], text)
		}
	}
	return nil
}

// fail acts on a failure of a policy as a whole.
func (v *validating) fail(of invocation, err error) {
	if !of.policy.failOpen {
		v.act(of, finding{message: err.Error()})
	}
}

// act does what a binding says about a finding.
func (v *validating) act(of invocation, found finding) {
	for _, action := range of.binding.actions {
		switch action {
		case registration.Deny:
			v.refuse(of, found)
		case registration.Audit:
			v.failures = append(v.failures, failure{found.message, of.policy.name, of.binding.name, found.index, of.binding.actions})
		case registration.Warn:
			v.q.Warn(fmt.Sprintf("Validation failed for ValidatingAdmissionPolicy '%s' with binding '%s': %s",
				of.policy.name, of.binding.name, found.message))
		}
	}
}

// refuse refuses the request, unless it is refused.
func (v *validating) refuse(of invocation, found finding) {
	if v.refusal != nil {
		return
	}
	message := fmt.Sprintf("ValidatingAdmissionPolicy '%s' denied request: %s", of.policy.name, found.message)
	if of.binding != nil {
		message = fmt.Sprintf("ValidatingAdmissionPolicy '%s' with binding '%s' denied request: %s", of.policy.name, of.binding.name, found.message)
	}
	refusal := errors.NewForbidden(v.q.Resource.GroupResource(), v.q.ObjectName(), stderrors.New(message))
	refusal.ErrStatus.Reason = found.reason
	if found.reason == "" {
		refusal.ErrStatus.Reason = metav1.StatusReasonInvalid
	}
	refusal.ErrStatus.Code = codeOf(refusal.ErrStatus.Reason)
	refusal.ErrStatus.Details.Causes = append(refusal.ErrStatus.Details.Causes, metav1.StatusCause{Message: message})
	v.refusal = refusal
}

// codeOf returns the code of a reason that a validation may have.
func codeOf(reason metav1.StatusReason) int32 {
	switch reason {
	case metav1.StatusReasonForbidden:
		return http.StatusForbidden
	case metav1.StatusReasonUnauthorized:
		return http.StatusUnauthorized
	case metav1.StatusReasonRequestEntityTooLarge:
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusUnprocessableEntity
}

// publish adds the annotations of the last policy to the audit event. Those that several bindings or parameters give a key are joined.
func (v *validating) publish() {
	if v.last == nil || v.q.Annotate == nil {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(v.annotations)) {
		v.q.Annotate(admission.Annotation{Key: v.last.name + "/" + key, Value: strings.Join(v.annotations[key], ", "), Body: true})
	}
	v.annotations = nil
}

// noteFailures adds the failures to the audit event.
func (v *validating) noteFailures() {
	if len(v.failures) == 0 || v.q.Annotate == nil {
		return
	}
	text, err := json.Marshal(v.failures[:min(len(v.failures), maxFailures)])
	if err != nil {
		panic(err) // cannot happen: failures are texts
	}
	v.q.Annotate(admission.Annotation{Key: "validation.policy.admission.k8s.io/validation_failure", Value: string(text), Body: true})
}
