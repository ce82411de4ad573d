// Package podsecurity has the admission plugin PodSecurity: labels of a namespace say which of the Pod Security Standards its pods must meet,
// and which violations are noted or warned of. The library of Kubernetes checks pods against the standards.
package podsecurity

import (
	"context"
	"fmt"
	"slices"
	"sync"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/metrics"
	"k8s.io/pod-security-admission/policy"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/registry"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// Plugin is the plugin. Its Store is set before use.
type Plugin struct {
	Store store.Store
	// Recorder counts evaluations of pods and templates; nil counts nothing.
	Recorder metrics.Recorder

	once      sync.Once
	evaluator policy.Evaluator // made at the first use
}

var (
	namespaces = kschema.GroupResource{Resource: "namespaces"}
	pods       = kschema.GroupResource{Resource: "pods"}
	// templates has, by resource, where the template of the pods of a controller is.
	templates = map[kschema.GroupResource][]string{
		{Resource: "replicationcontrollers"}:      {"spec", "template"},
		{Resource: "podtemplates"}:                {"template"},
		{Group: "apps", Resource: "replicasets"}:  {"spec", "template"},
		{Group: "apps", Resource: "deployments"}:  {"spec", "template"},
		{Group: "apps", Resource: "statefulsets"}: {"spec", "template"},
		{Group: "apps", Resource: "daemonsets"}:   {"spec", "template"},
		{Group: "batch", Resource: "jobs"}:        {"spec", "template"},
		{Group: "batch", Resource: "cronjobs"}:    {"spec", "jobTemplate", "spec", "template"},
	}
	// unchecked are the subresources of pods that do not write what the standards are about.
	unchecked = []string{"exec", "attach", "binding", "eviction", "log", "portforward", "proxy", "status"}
	// lax is the policy of a namespace without labels.
	lax = api.Policy{Enforce: privileged, Audit: privileged, Warn: privileged}

	privileged = api.LevelVersion{Level: api.LevelPrivileged, Version: api.LatestVersion()}
)

// maxPods is how many pods are checked when the policy of their namespace becomes stricter.
const maxPods = 3000

// Validate refuses pods that violate the policy of their namespace, and warns of objects whose pods will.
func (p *Plugin) Validate(ctx context.Context, r *admission.Request) error {
	if r.Operation != admission.Create && r.Operation != admission.Update {
		return nil
	}
	resource := r.Resource.GroupResource()
	template, isController := templates[resource]
	switch {
	case resource == namespaces && r.Subresource == "":
		return p.namespace(ctx, r)
	case resource == pods && !slices.Contains(unchecked, r.Subresource):
		return p.pod(ctx, r)
	case isController && r.Subresource == "":
		return p.controller(ctx, r, r.Object.Content().Get(template...))
	}
	return nil
}

// namespace validates the labels of a namespace, and warns of its pods that violate a stricter policy.
//
// Labels that were wrong already may stay.
func (p *Plugin) namespace(ctx context.Context, r *admission.Request) error {
	now, wrong := api.PolicyToEvaluate(labelsOf(r.Object.Content()), lax)
	was, wasWrong := api.PolicyToEvaluate(labelsOf(r.Old.Content()), lax)
	if len(wrong) > 0 && (r.Operation == admission.Create || wrong.ToAggregate().Error() != errorOf(wasWrong.ToAggregate())) {
		return errors.NewInvalid(kschema.GroupKind{Kind: "Namespace"}, r.Name, wrong)
	}
	isStricter := now.Enforce.Version != was.Enforce.Version || api.CompareLevels(now.Enforce.Level, was.Enforce.Level) > 0
	if r.Operation == admission.Create || now.Enforce.Level == api.LevelPrivileged || !isStricter {
		return nil
	}
	r.Warn(p.existing(ctx, r.Name, now.Enforce)...)
	return nil
}

// errorOf returns the text of an error, "" for nil.
func errorOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// existing returns warnings of the pods of a namespace that violate a level: one for each set of violations, with the first pod by name.
//
// Of the pods of one controller, one comes first. So many controllers are checked even if there are more pods than may be.
func (p *Plugin) existing(ctx context.Context, namespace string, level api.LevelVersion) []string {
	page, err := p.Store.Range(ctx, store.Range{Prefix: "/registry/pods/" + namespace + "/"})
	var first, others []*corev1.Pod
	had := map[string]bool{}
	for _, record := range page.Records {
		var pod corev1.Pod
		var stored value.Value
		if stored, err = value.Parse(record.Text); err == nil {
			err = structs.Into(stored, &pod)
		}
		if err != nil {
			break
		}
		uid := ""
		for _, owner := range pod.OwnerReferences {
			if owner.Controller != nil && *owner.Controller {
				uid = string(owner.UID)
			}
		}
		if had[uid] {
			others = append(others, &pod)
			continue
		}
		had[uid] = uid != ""
		first = append(first, &pod)
	}
	if err != nil {
		return []string{"failed to list pods while checking new PodSecurity enforce level"}
	}
	return p.violations(append(first, others...), namespace, level)
}

// violations returns warnings of the pods that violate a level.
func (p *Plugin) violations(all []*corev1.Pod, namespace string, level api.LevelVersion) (warnings []string) {
	names := map[string][]string{} // of pods by what they violate
	for _, pod := range all[:min(len(all), maxPods)] {
		if result := p.check(level, &corev1.PodTemplateSpec{ObjectMeta: pod.ObjectMeta, Spec: pod.Spec}); !result.Allowed {
			names[result.ForbiddenReason()] = append(names[result.ForbiddenReason()], pod.Name)
		}
	}
	if len(all) > maxPods {
		warnings = append(warnings, fmt.Sprintf("new PodSecurity enforce level only checked against the first %d of %d existing pods", maxPods, len(all)))
	}
	if len(names) > 0 {
		warnings = append(warnings, fmt.Sprintf("existing pods in namespace %q violate the new PodSecurity enforce level %q", namespace, level.String()))
	}
	var of []string
	for reason, pods := range names {
		name := slices.Min(pods)
		switch n := len(pods) - 1; n {
		case 0:
		case 1:
			name += " (and 1 other pod)"
		default:
			name += fmt.Sprintf(" (and %d other pods)", n)
		}
		of = append(of, name+": "+reason)
	}
	slices.Sort(of)
	return append(warnings, of...)
}

// pod enforces the policy of the namespace of a pod. Updates count if they add a container or change an image.
func (p *Plugin) pod(ctx context.Context, r *admission.Request) error {
	now, wrong, err := p.policyOf(ctx, r.Namespace)
	if err != nil {
		p.fail(r, true)
		return errors.NewInternalError(fmt.Errorf("failed to lookup namespace %q", r.Namespace))
	}
	if wrong == nil && now.FullyPrivileged() {
		p.record(r, metrics.DecisionAllow, now.Enforce, metrics.ModeEnforce)
		note(r, api.EnforcedPolicyAnnotationKey, privileged.String())
		return nil
	}
	if r.Operation == admission.Update && !isSignificant(r.Object.Content().Get("spec"), r.Old.Content().Get("spec")) {
		return nil
	}
	var of corev1.PodTemplateSpec
	if err := structs.Into(r.Object.Content(), &of); err != nil {
		p.fail(r, true)
		return errors.NewBadRequest("failed to decode pod")
	}
	note(r, api.EnforcedPolicyAnnotationKey, now.Enforce.String())
	result := p.check(now.Enforce, &of)
	var decision metrics.Decision = metrics.DecisionAllow
	if !result.Allowed {
		decision = metrics.DecisionDeny
	}
	p.record(r, decision, now.Enforce, metrics.ModeEnforce)
	p.note(r, now, wrong, &of, result.Allowed)
	if !result.Allowed {
		return errors.NewForbidden(pods, r.Name, fmt.Errorf("violates PodSecurity %q: %s", now.Enforce.String(), result.ForbiddenDetail()))
	}
	return nil
}

// controller notes and warns that the pods of a controller would violate the policy of its namespace. It refuses nothing.
func (p *Plugin) controller(ctx context.Context, r *admission.Request, template value.Value) error {
	now, wrong, err := p.policyOf(ctx, r.Namespace)
	isLax := wrong == nil && now.Warn.Level == api.LevelPrivileged && now.Audit.Level == api.LevelPrivileged
	if err != nil {
		p.fail(r, true)
	}
	if err != nil || isLax || template.Kind() != value.KindObject {
		return nil
	}
	var of corev1.PodTemplateSpec
	if err := structs.Into(template, &of); err != nil {
		p.fail(r, true)
		note(r, "error", "failed to extract pod template: "+err.Error())
		return nil
	}
	p.note(r, now, wrong, &of, true)
	return nil
}

// note notes violations for the audit, and warns of others unless the request is refused.
func (p *Plugin) note(r *admission.Request, now api.Policy, wrong error, of *corev1.PodTemplateSpec, isAllowed bool) {
	if wrong != nil {
		p.fail(r, false)
		note(r, "error", fmt.Sprintf("Failed to parse policy: %v", wrong))
	}
	would := func(level api.LevelVersion) string {
		if result := p.check(level, of); !result.Allowed {
			return fmt.Sprintf("would violate PodSecurity %q: %s", level.String(), result.ForbiddenDetail())
		}
		return ""
	}
	if text := would(now.Audit); text != "" {
		p.record(r, metrics.DecisionDeny, now.Audit, metrics.ModeAudit)
		note(r, api.AuditViolationsAnnotationKey, text)
	}
	if !isAllowed {
		return
	}
	if text := would(now.Warn); text != "" {
		p.record(r, metrics.DecisionDeny, now.Warn, metrics.ModeWarn)
		r.Warn(text)
	}
}

// record counts an evaluation.
func (p *Plugin) record(r *admission.Request, decision metrics.Decision, level api.LevelVersion, mode metrics.Mode) {
	if p.Recorder != nil {
		p.Recorder.RecordEvaluation(decision, level, mode, attributes(r))
	}
}

// fail counts an error. A fatal one kept the pods from being evaluated.
func (p *Plugin) fail(r *admission.Request, isFatal bool) {
	if p.Recorder != nil {
		p.Recorder.RecordError(isFatal, attributes(r))
	}
}

// attributes returns what metrics say of a request.
func attributes(r *admission.Request) api.Attributes {
	return &api.AttributesRecord{Resource: r.Resource, Subresource: r.Subresource, Operation: admissionv1.Operation(r.Operation)}
}

// note adds an annotation to the audit event.
func note(r *admission.Request, key, text string) {
	if r.Annotate != nil {
		r.Annotate(admission.Annotation{Key: api.AuditAnnotationPrefix + key, Value: text})
	}
}

// policyOf returns the policy of a namespace, and what is wrong with its labels.
func (p *Plugin) policyOf(ctx context.Context, name string) (now api.Policy, wrong, err error) {
	namespace, err := registry.Object(ctx, p.Store, "/registry/namespaces/"+name)
	if err != nil {
		return now, nil, err
	}
	now, errs := api.PolicyToEvaluate(labelsOf(namespace), lax)
	if len(errs) > 0 {
		wrong = errs.ToAggregate()
	}
	return now, wrong, nil
}

// labelsOf returns the labels of an object.
func labelsOf(object value.Value) map[string]string {
	labels := map[string]string{}
	for name, label := range object.Get("metadata", "labels").Members() {
		labels[name] = label.Str()
	}
	return labels
}

// check evaluates pods of a template against a level.
func (p *Plugin) check(level api.LevelVersion, of *corev1.PodTemplateSpec) policy.AggregateCheckResult {
	p.once.Do(func() {
		var err error
		if p.evaluator, err = policy.NewEvaluator(policy.DefaultChecks(), nil); err != nil {
			panic(err) // the checks of the library fit together
		}
	})
	return policy.AggregateCheckResults(p.evaluator.EvaluatePod(level, &of.ObjectMeta, &of.Spec))
}

// isSignificant reports whether an update of a pod adds or removes a container, or changes an image.
func isSignificant(is, was value.Value) bool {
	for _, list := range []string{"containers", "initContainers"} {
		if is.Get(list).Len() != was.Get(list).Len() {
			return true
		}
		for i := range is.Get(list).Len() {
			if !is.Get(list).Item(i).Get("image").Equal(was.Get(list).Item(i).Get("image")) {
				return true
			}
		}
	}
	images := map[string]value.Value{}
	for c := range was.Get("ephemeralContainers").Items() {
		images[c.Get("name").Str()] = c.Get("image")
	}
	for c := range is.Get("ephemeralContainers").Items() {
		if image, existed := images[c.Get("name").Str()]; !existed || !image.Equal(c.Get("image")) {
			return true
		}
	}
	return false
}
