package kinds

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/util/jsonpath"

	"github.com/deed-project/deed/value"
)

// Policies of admission and their bindings. This server stores them, validates them, and does not enforce them. Whether expressions compile
// is not checked.

// matchResources validates which requests a policy or a binding matches.
func (r *report) matchResources(p place) {
	if !p.is() {
		return
	}
	if policy := p.at("matchPolicy"); !policy.is() {
		r.required(policy, "")
	} else {
		r.onlyAmong(policy, "Equivalent", "Exact")
	}
	for _, name := range [...]string{"namespaceSelector", "objectSelector"} {
		if selector := p.at(name); selector.is() {
			r.selector(selector)
		} else {
			r.required(selector, "")
		}
	}
	for _, name := range [...]string{"resourceRules", "excludeResourceRules"} {
		rules := p.at(name)
		for i := range rules.indexes() {
			r.namedRule(rules.item(i))
		}
	}
}

// namedRule validates a rule that requests match, which may name objects.
//
// Names come before the rest of the rule, as in kube-apiserver.
func (r *report) namedRule(p place) {
	named := p.at("resourceNames")
	var met names
	for i := range named.indexes() {
		name := named.item(i)
		r.invalid(name, content.IsPathSegmentName(name.Str())...)
		if !met.add(name.Str()) {
			r.duplicate(name)
		}
	}
	r.ruleWithOperations(p)
}

var operationTypes = []string{"*", "CONNECT", "CREATE", "DELETE", "UPDATE"}

// ruleWithOperations validates a rule that requests match.
func (r *report) ruleWithOperations(p place) {
	operations := p.at("operations")
	if operations.Len() == 0 {
		r.required(operations, "")
	}
	r.wildcardAlone(operations, "operations")
	for i := range operations.indexes() {
		r.onlyAmong(operations.item(i), operationTypes...)
	}
	groups, versions := p.at("apiGroups"), p.at("apiVersions")
	if groups.Len() == 0 {
		r.required(groups, "")
	}
	r.wildcardAlone(groups, "API groups")
	if versions.Len() == 0 {
		r.required(versions, "")
	}
	r.wildcardAlone(versions, "API versions")
	for i := range versions.indexes() {
		r.present(versions.item(i))
	}
	r.ruleResources(p.at("resources"))
	if scope := p.at("scope"); scope.is() {
		r.onlyAmong(scope, "*", "Cluster", "Namespaced")
	}
}

// wildcardAlone refuses a list that has a wildcard beside others.
func (r *report) wildcardAlone(p place, what string) {
	if p.Len() > 1 && slices.Contains(texts(p.Value), "*") {
		r.invalid(p, "if '*' is present, must not specify other "+what)
	}
}

// ruleResources validates resources and subresources, of which either part may be a wildcard.
//
// No entry may be covered by another one: "pods/*" covers "pods/status" if it comes first. The last entry without a slash decides whether
// "*" has company, which is an oddity of kube-apiserver.
func (r *report) ruleResources(p place) {
	if p.Len() == 0 {
		r.required(p, "")
	}
	var resources, subresources names // that have a wildcard for the other part
	all, plain := false, false
	for i := range p.indexes() {
		text := p.item(i)
		if !r.present(text) {
			continue
		}
		all = all || text.Str() == "*"
		resource, subresource, below := strings.Cut(text.Str(), "/")
		if !below {
			plain = resource != "*"
			continue
		}
		if resources.has(resource) {
			r.invalid(text, "if '"+resource+"/*' is present, must not specify "+text.Str())
		}
		if subresources.has(subresource) {
			r.invalid(text, "if '*/"+subresource+"' is present, must not specify "+text.Str())
		}
		if subresource == "*" {
			resources.add(resource)
		}
		if resource == "*" {
			subresources.add(subresource)
		}
	}
	if p.Len() > 1 && slices.Contains(texts(p.Value), "*/*") {
		r.invalid(p, "if '*/*' is present, must not specify other resources")
	}
	if all && plain {
		r.invalid(p, "if '*' is present, must not specify other resources without subresources")
	}
}

// paramKind validates the kind of the parameters of a policy.
func (r *report) paramKind(p place) {
	if !p.is() {
		return
	}
	version, kind := p.at("apiVersion"), p.at("kind")
	if r.present(version) {
		r.paramVersion(version)
	}
	if r.present(kind) {
		if wrong := validation.IsDNS1035Label(strings.ToLower(kind.Str())); len(wrong) > 0 {
			r.invalid(kind, "may have mixed case, but should otherwise match: "+strings.Join(wrong, ","))
		}
	}
}

// paramVersion validates an apiVersion: a version, or a group and a version. The core group has no name.
func (r *report) paramVersion(p place) {
	group, version, qualified := strings.Cut(p.Str(), "/")
	switch {
	case p.Str() == "/":
		group, version = "", ""
	case strings.Contains(version, "/"):
		r.invalid(p, "unexpected GroupVersion string: "+p.Str())
		return
	case !qualified:
		group, version = "", group
	}
	if wrong := validation.IsDNS1123Subdomain(group); group != "" && len(wrong) > 0 {
		r.invalidAs(p, group, strings.Join(wrong, ","))
	}
	if version == "" {
		r.invalid(p, "version must be specified")
	} else if wrong := validation.IsDNS1035Label(version); len(wrong) > 0 {
		r.invalidAs(p, version, strings.Join(wrong, ","))
	}
}

// paramRef validates which parameters a binding refers to.
//
// A binding names one object of parameters, or selects several.
func (r *report) paramRef(p place) {
	if !p.is() {
		return
	}
	const exclusive = "name and selector are mutually exclusive"
	name, selector, action := p.at("name"), p.at("selector"), p.at("parameterNotFoundAction")
	if name.Str() != "" {
		r.invalid(name, content.IsPathSegmentName(name.Str())...)
		if selector.is() {
			r.forbidden(name, exclusive)
		}
	}
	if selector.is() {
		if r.selector(selector); name.Str() != "" {
			r.forbidden(selector, exclusive)
		}
	}
	if name.Str() == "" && !selector.is() {
		r.required(p, "one of name or selector must be specified")
	}
	r.among(action, "Deny", "Allow")
}

// policy validates what policies that validate and those that mutate have in common.
//
// mutating tells that the policy changes objects, which it cannot do in a deletion.
func (r *expressions) policy(spec place, was value.Value, mutating bool) {
	if failure := spec.at("failurePolicy"); !failure.is() {
		r.required(failure, "")
	} else {
		r.onlyAmong(failure, "Fail", "Ignore")
	}
	r.paramKind(spec.at("paramKind"))
	constraints := spec.at("matchConstraints")
	if !constraints.is() {
		r.required(constraints, "")
	} else {
		r.matchResources(constraints)
		if rules := constraints.at("resourceRules"); rules.Len() == 0 {
			r.required(rules, "")
		}
		if mutating {
			r.mutableOperations(constraints)
		}
	}
	// Conditions that stay as they are were valid once.
	if conditions := spec.at("matchConditions"); !isSet(was) || !r.same(conditions, was.Get("matchConditions")) || !r.same(spec.at("paramKind"), was.Get("paramKind")) {
		r.matchConditions(conditions)
	}
	variables := spec.at("variables")
	for i := range variables.indexes() {
		v := variables.item(i)
		name, expression := v.at("name"), v.at("expression")
		if strings.TrimSpace(name.Str()) == "" {
			r.required(name, "name is not specified")
		} else if !celName().MatchString(name.Str()) || slices.Contains(celReserved, name.Str()) {
			r.invalid(name, "must be a valid CEL identifier")
		}
		if strings.TrimSpace(expression.Str()) == "" {
			r.required(expression, "expression is not specified")
		} else {
			r.compile(expression, Variable, name.Str())
		}
	}
}

// Names of variables of CEL.
var (
	celName     = lazyRegexp(`^[_a-zA-Z][_a-zA-Z0-9]*$`)
	celReserved = strings.Fields("true false null in as break const continue else for function if import let loop package namespace return " +
		"var void while")
)

// mutableOperations refuses operations that nothing can change. The error is not about one rule.
//
// Its path leaves out the index of the rule, as in kube-apiserver.
func (r *report) mutableOperations(p place) {
	told := p.at("resourceRules").at("operations")
	for rule := range p.Get("resourceRules").Items() {
		for operation := range rule.Get("operations").Items() {
			r.onlyAmong(told.with(operation), "*", "CONNECT", "CREATE", "UPDATE")
		}
	}
}

// matchConditions validates expressions that requests have to meet.
func (r *expressions) matchConditions(p place) {
	if p.Len() > 64 {
		r.add(field.TooMany(p.path(), p.Len(), 64))
	}
	var met names
	for i := range p.indexes() {
		c := p.item(i)
		name, expression := c.at("name"), c.at("expression")
		if strings.TrimSpace(expression.Str()) == "" {
			r.required(expression, "")
		} else {
			r.compile(expression, MatchCondition, "")
		}
		if r.present(name) {
			r.labelKey(name)
			if !met.add(name.Str()) {
				r.duplicate(name)
			}
		}
	}
}

// validatePolicy validates a ValidatingAdmissionPolicy.
//
// A policy without validations and annotations has no effect. Nothing else is checked then.
func validatePolicy(r *report, object place, live value.Value) {
	spec := object.at("spec")
	e := r.policyExpressions(spec.Value, false)
	e.policy(spec, live.Get("spec"), false)
	validations, annotations := spec.at("validations"), spec.at("auditAnnotations")
	if validations.Len() == 0 && annotations.Len() == 0 {
		const one = "validations or auditAnnotations must contain at least one item"
		r.required(validations, one)
		r.required(annotations, one)
		return
	}
	for i := range validations.indexes() {
		e.validation(validations.item(i))
	}
	if annotations.Len() > 20 {
		r.invalid(annotations, "must not have more than 20 auditAnnotations")
	}
	var met names
	for i := range annotations.indexes() {
		a := annotations.item(i)
		key := a.at("key")
		e.auditAnnotation(a, object.Get("metadata", "name").Str())
		if !met.add(key.Str()) {
			r.duplicate(key)
		}
	}
}

// validatePolicyStatus validates what type checking found in a ValidatingAdmissionPolicy.
func validatePolicyStatus(r *report, object place, live value.Value) {
	warnings := object.at("status").at("typeChecking").at("expressionWarnings")
	for i := range warnings.indexes() {
		w := warnings.item(i)
		r.present(w.at("warning"))
		field := w.at("fieldRef")
		switch text := strings.TrimSpace(field.Str()); {
		case text == "":
			r.required(field, "")
		default:
			if err := jsonpath.New("spec").Parse("{" + text + "}"); err != nil {
				r.invalidAs(field, text, fmt.Sprintf("invalid JSONPath: %v", err))
			}
		}
	}
	validateConditions(r, object, live)
}

var refusalReasons = []string{"Forbidden", "Invalid", "RequestEntityTooLarge"}

// validation validates one expression and what it says of an object that does not meet it.
func (r *expressions) validation(p place) {
	expression, message, shown := p.at("expression"), p.at("message"), p.at("messageExpression")
	if strings.TrimSpace(expression.Str()) == "" {
		r.required(expression, "expression is not specified")
	} else {
		r.compile(expression, Validation, "")
	}
	switch {
	case shown.Str() == "":
	case strings.TrimSpace(shown.Str()) == "":
		r.invalid(shown, "must be non-empty if specified")
	default:
		r.compile(shown, Message, "")
	}
	switch text := strings.TrimSpace(message.Str()); {
	case message.Str() != "" && text == "":
		r.invalid(message, "must be non-empty if specified")
	case strings.ContainsAny(text, "\n\r"):
		r.invalid(message, "must not contain line breaks")
	}
	if reason := p.at("reason"); reason.is() {
		r.onlyAmong(reason, refusalReasons...)
	}
}

// auditAnnotation validates an annotation. Its key is qualified by the name of the policy, so the two together must be a qualified name.
func (r *expressions) auditAnnotation(p place, policy string) {
	key, expression := p.at("key"), p.at("valueExpression")
	if policy == "" {
		r.invalid(key, "requires metadata.name be non-empty")
	} else {
		named := policy + "/" + key.Str()
		r.invalidAs(key, named, validation.IsQualifiedName(named)...)
	}
	switch text := strings.TrimSpace(expression.Str()); {
	case text == "":
		r.required(expression, "valueExpression is not specified")
	case len(text) > 5*1024:
		r.required(expression, "must not exceed 5120 bytes in length")
	default:
		r.compile(expression, AuditAnnotation, "")
	}
}

// validatePolicyBinding validates a ValidatingAdmissionPolicyBinding.
func validatePolicyBinding(r *report, object place, _ value.Value) {
	spec := object.at("spec")
	if policy := spec.at("policyName"); policy.Str() == "" {
		r.later(policy, "")
	} else {
		r.subdomain(policy)
	}
	r.paramRef(spec.at("paramRef"))
	r.matchResources(spec.at("matchResources"))
	actions := spec.at("validationActions")
	var met names
	for i := range actions.indexes() {
		action := actions.item(i)
		r.onlyAmong(action, "Audit", "Deny", "Warn")
		if !met.add(action.Str()) {
			r.add(field.Duplicate(action.path(), Enumeration(action.Str())))
		}
	}
	if met.has("Deny") && met.has("Warn") {
		r.invalid(actions, "must not contain both Deny and Warn (repeating the same validation failure information in the API response and "+
			"headers serves no purpose)")
	}
	if actions.Len() == 0 {
		r.later(actions, "")
	}
}

// validateMutatingPolicy validates a MutatingAdmissionPolicy.
func validateMutatingPolicy(r *report, object place, live value.Value) {
	spec := object.at("spec")
	e := r.policyExpressions(spec.Value, true)
	e.policy(spec, live.Get("spec"), true)
	mutations := spec.at("mutations")
	if mutations.Len() == 0 {
		r.required(mutations, "mutations must contain at least one item")
	}
	for i := range mutations.indexes() {
		e.mutation(mutations.item(i))
	}
	r.among(spec.at("reinvocationPolicy"), "IfNeeded", "Never")
}

// mutation validates a change, which is one of two types.
func (r *expressions) mutation(p place) {
	typ := p.at("patchType")
	members := map[string][2]string{"JSONPatch": {"jsonPatch", "applyConfiguration"}, "ApplyConfiguration": {"applyConfiguration", "jsonPatch"}}
	of, known := members[typ.Str()]
	if !known {
		r.among(typ, "ApplyConfiguration", "JSONPatch")
		return
	}
	if patch := p.at(of[0]); !patch.is() {
		r.required(patch, "must be specified when patchType is "+typ.Str())
	} else if expression := patch.at("expression"); strings.TrimSpace(expression.Str()) == "" {
		r.required(expression, "")
	} else {
		r.compile(expression, map[string]Use{"JSONPatch": JSONPatch, "ApplyConfiguration": Patch}[typ.Str()], "")
	}
	if other := p.at(of[1]); other.is() {
		r.invalidAs(other, "{"+of[1]+"}", "must not be specified when patchType is "+typ.Str())
	}
}

// validateMutatingBinding validates a MutatingAdmissionPolicyBinding.
func validateMutatingBinding(r *report, object place, _ value.Value) {
	spec := object.at("spec")
	if policy := spec.at("policyName"); r.present(policy) {
		r.subdomain(policy)
	}
	r.paramRef(spec.at("paramRef"))
	resources := spec.at("matchResources")
	r.matchResources(resources)
	if resources.is() {
		r.mutableOperations(resources)
	}
}
