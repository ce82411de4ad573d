package webhook

import (
	"fmt"
	"slices"
	"strings"

	registration "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	remote "k8s.io/apiserver/pkg/util/webhook"

	"github.com/deed-project/deed/value"
)

// Validating configurations of webhooks, by kube-apiserver's rules and in its order. An update is lenient: a configuration that was stored
// by an earlier release must remain changeable, so each stricter rule applies only if the old configuration meets it.

// Validate returns the errors of a configuration, apart from its metadata. old is the replaced configuration, or absent for a new one. A
// value that is no longer allowed stays valid if old has it.
//
// The cost grows with the number of webhooks, and with the compilation of their match conditions.
func Validate(configuration, old value.Value) field.ErrorList {
	hooks, err := webhooksOf(configuration)
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	v := validator{}
	if !old.IsAbsent() {
		before, err := webhooksOf(old)
		if err != nil {
			return field.ErrorList{field.InternalError(nil, err)}
		}
		v.permit(hooks, before)
	}
	v.hooks(hooks)
	return v.errs
}

// validator collects errors.
type validator struct {
	errs field.ErrorList

	// These permit what the replaced configuration has.
	anySideEffects, anyReviews, repeated, badSelectors, sameConditions bool
	known                                                              []string // expressions of the replaced configuration
}

// permit allows the hooks to keep invalid values that the replaced hooks have.
//
// Permissions hold for all hooks, even if one old hook alone had the value.
func (v *validator) permit(hooks, before []registration.MutatingWebhook) {
	names := map[string]bool{}
	v.sameConditions = len(hooks) == len(before)
	for i, h := range before {
		v.anySideEffects = v.anySideEffects || h.SideEffects == nil || !slices.Contains(sideEffects, string(*h.SideEffects))
		v.anyReviews = v.anyReviews || len(h.AdmissionReviewVersions) > 0 && !slices.ContainsFunc(h.AdmissionReviewVersions, knownReview)
		v.repeated = v.repeated || names[h.Name]
		names[h.Name] = true
		v.badSelectors = v.badSelectors || badSelector(h.NamespaceSelector) || badSelector(h.ObjectSelector)
		v.sameConditions = v.sameConditions && slices.Equal(hooks[i].MatchConditions, h.MatchConditions)
		for _, c := range h.MatchConditions {
			v.known = append(v.known, c.Expression)
		}
	}
}

// badSelector reports whether a selector has values that are no longer allowed.
func badSelector(s *metav1.LabelSelector) bool {
	return s != nil && len(metavalidation.ValidateLabelSelector(s, metavalidation.LabelSelectorValidationOptions{}, nil)) > 0
}

// The allowed values of some fields, in the order of error texts.
var (
	sideEffects      = []string{"None", "NoneOnDryRun"}
	allSideEffects   = []string{"None", "NoneOnDryRun", "Some", "Unknown"}
	failurePolicies  = []string{"Fail", "Ignore"}
	matchPolicies    = []string{"Equivalent", "Exact"}
	reinvocations    = []string{"IfNeeded", "Never"}
	operations       = []string{"*", "CONNECT", "CREATE", "DELETE", "UPDATE"}
	scopes           = []string{"*", "Cluster", "Namespaced"}
	reviews          = []string{"v1", "v1beta1"}
	maxConditions    = 64
	shortestDeadline = int32(1)
	longestDeadline  = int32(30)
)

// knownReview reports whether this server speaks a version of AdmissionReview.
func knownReview(version string) bool { return slices.Contains(reviews, version) }

// add adds errors.
func (v *validator) add(errs ...*field.Error) { v.errs = append(v.errs, errs...) }

// hooks checks all webhooks, and that their names differ.
func (v *validator) hooks(hooks []registration.MutatingWebhook) {
	names := map[string]bool{}
	for i := range hooks {
		path := field.NewPath("webhooks").Index(i)
		v.hook(&hooks[i], path)
		v.reviews(hooks[i].AdmissionReviewVersions, path.Child("admissionReviewVersions"))
		name := hooks[i].Name
		if names[name] && name != "" && !v.repeated {
			v.add(field.Duplicate(path.Child("name"), name))
		}
		names[name] = true
	}
}

// hook checks one webhook. The order of its fields is that of kube-apiserver's errors.
func (v *validator) hook(h *registration.MutatingWebhook, path *field.Path) {
	v.add(validation.IsFullyQualifiedName(path.Child("name"), h.Name)...)
	for i := range h.Rules {
		v.rule(&h.Rules[i], path.Child("rules").Index(i))
	}
	oneOfTexts(v, path.Child("failurePolicy"), h.FailurePolicy, failurePolicies)
	oneOfTexts(v, path.Child("matchPolicy"), h.MatchPolicy, matchPolicies)
	allowed := sideEffects
	if v.anySideEffects {
		allowed = allSideEffects
	}
	if h.SideEffects == nil {
		v.add(field.Required(path.Child("sideEffects"), "must specify one of "+strings.Join(allowed, ", ")))
	}
	oneOfTexts(v, path.Child("sideEffects"), h.SideEffects, allowed)
	if t := h.TimeoutSeconds; t != nil && (*t < shortestDeadline || *t > longestDeadline) {
		v.add(field.Invalid(path.Child("timeoutSeconds"), *t, "the timeout value must be between 1 and 30 seconds"))
	}
	v.selector(h.NamespaceSelector, path.Child("namespaceSelector"))
	v.selector(h.ObjectSelector, path.Child("objectSelector"))
	oneOfTexts(v, path.Child("reinvocationPolicy"), h.ReinvocationPolicy, reinvocations)
	v.client(h.ClientConfig, path.Child("clientConfig"))
	if !v.sameConditions {
		v.conditions(h.MatchConditions, path.Child("matchConditions"))
	}
}

// oneOfTexts checks an optional field against the allowed values.
func oneOfTexts[T ~string](v *validator, path *field.Path, text *T, allowed []string) {
	if text != nil && !slices.Contains(allowed, string(*text)) {
		v.add(field.NotSupported(path, *text, allowed))
	}
}

// selector checks an optional label selector.
func (v *validator) selector(s *metav1.LabelSelector, path *field.Path) {
	if s != nil {
		o := metavalidation.LabelSelectorValidationOptions{AllowInvalidLabelValueInSelector: v.badSelectors}
		v.add(metavalidation.ValidateLabelSelector(s, o, path)...)
	}
}

// client checks how a hook is reached.
func (v *validator) client(c registration.WebhookClientConfig, path *field.Path) {
	switch {
	case (c.URL == nil) == (c.Service == nil):
		v.add(field.Required(path, "exactly one of url or service is required"))
	case c.URL != nil:
		v.add(remote.ValidateWebhookURL(path.Child("url"), *c.URL, true)...)
	default:
		port := int32(443)
		if c.Service.Port != nil {
			port = *c.Service.Port
		}
		// The library's order is namespace, name; kube-apiserver passes the name first. Its errors therefore name the other field.
		v.add(remote.ValidateWebhookService(path.Child("service"), c.Service.Name, c.Service.Namespace, c.Service.Path, port)...)
	}
}

// reviews checks the versions of AdmissionReview of a hook: one at least that this server speaks, and none twice.
func (v *validator) reviews(versions []string, path *field.Path) {
	if len(versions) == 0 {
		v.add(field.Required(path, "must specify one of "+strings.Join(reviews, ", ")))
		return
	}
	for i, version := range versions {
		if slices.Contains(versions[:i], version) {
			v.add(field.Invalid(path.Index(i), version, "duplicate version"))
			continue
		}
		for _, text := range validation.IsDNS1035Label(version) {
			v.add(field.Invalid(path.Index(i), version, text))
		}
	}
	if !v.anyReviews && !slices.ContainsFunc(versions, knownReview) {
		v.add(field.Invalid(path, versions, "must include at least one of "+strings.Join(reviews, ", ")))
	}
}

// rule checks one rule of a hook.
func (v *validator) rule(r *registration.RuleWithOperations, path *field.Path) {
	at := path.Child("operations")
	if len(r.Operations) == 0 {
		v.add(field.Required(at, ""))
	}
	if len(r.Operations) > 1 && slices.Contains(r.Operations, registration.OperationAll) {
		v.add(field.Invalid(at, r.Operations, "if '*' is present, must not specify other operations"))
	}
	for i := range r.Operations {
		oneOfTexts(v, at.Index(i), &r.Operations[i], operations)
	}
	v.namesOrStar(r.APIGroups, "API groups", path.Child("apiGroups"))
	v.namesOrStar(r.APIVersions, "API versions", path.Child("apiVersions"))
	for i, version := range r.APIVersions {
		if version == "" {
			v.add(field.Required(path.Child("apiVersions").Index(i), ""))
		}
	}
	v.resources(r.Resources, path.Child("resources"))
	oneOfTexts(v, path.Child("scope"), r.Scope, scopes)
}

// namesOrStar checks that a list has either one star or names.
func (v *validator) namesOrStar(names []string, what string, path *field.Path) {
	if len(names) == 0 {
		v.add(field.Required(path, ""))
	}
	if len(names) > 1 && slices.Contains(names, "*") {
		v.add(field.Invalid(path, names, "if '*' is present, must not specify other "+what))
	}
}

// resources checks a list of resources and subresources. No entry may be covered by another.
func (v *validator) resources(names []string, path *field.Path) {
	if len(names) == 0 {
		v.add(field.Required(path, ""))
	}
	anySub, ofAny, plain := map[string]bool{}, map[string]bool{}, false
	for i, name := range names {
		if name == "" {
			v.add(field.Required(path.Index(i), ""))
			continue
		}
		resource, sub, divided := strings.Cut(name, "/")
		if !divided {
			plain = name != "*" // as in kube-apiserver, the last plain entry decides
			continue
		}
		if anySub[resource] {
			v.add(field.Invalid(path.Index(i), name, fmt.Sprintf("if '%s/*' is present, must not specify %s", resource, name)))
		}
		if ofAny[sub] {
			v.add(field.Invalid(path.Index(i), name, fmt.Sprintf("if '*/%s' is present, must not specify %s", sub, name)))
		}
		anySub[resource] = anySub[resource] || sub == "*"
		ofAny[sub] = ofAny[sub] || resource == "*"
	}
	if len(names) > 1 && slices.Contains(names, "*/*") {
		v.add(field.Invalid(path, names, "if '*/*' is present, must not specify other resources"))
	}
	if slices.Contains(names, "*") && plain {
		v.add(field.Invalid(path, names, "if '*' is present, must not specify other resources without subresources"))
	}
}
