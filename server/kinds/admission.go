package kinds

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/util/jsonpath"

	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

// Policies of admission and their bindings. This server stores them, validates them, and does not enforce them. Whether expressions compile
// is not checked.

// validateMatchResources validates which requests a policy or a binding matches.
func validateMatchResources(r *walk.Report, p walk.Place) {
	if !p.IsSet() {
		return
	}
	if policy := p.At("matchPolicy"); !policy.IsSet() {
		r.Required(policy, "")
	} else {
		r.OnlyAmong(policy, "Equivalent", "Exact")
	}
	for _, name := range [...]string{"namespaceSelector", "objectSelector"} {
		if selector := p.At(name); selector.IsSet() {
			r.Selector(selector)
		} else {
			r.Required(selector, "")
		}
	}
	for _, name := range [...]string{"resourceRules", "excludeResourceRules"} {
		rules := p.At(name)
		for i := range rules.Indexes() {
			validateNamedRule(r, rules.Index(i))
		}
	}
}

// validateNamedRule validates a rule that requests match, which may name objects.
//
// Names come before the rest of the rule, as in kube-apiserver.
func validateNamedRule(r *walk.Report, p walk.Place) {
	named := p.At("resourceNames")
	var met walk.Names
	for i := range named.Indexes() {
		name := named.Index(i)
		r.Invalid(name, content.IsPathSegmentName(name.Str())...)
		if !met.Add(name.Str()) {
			r.Duplicate(name)
		}
	}
	validateRuleWithOperations(r, p)
}

var operationTypes = []string{"*", "CONNECT", "CREATE", "DELETE", "UPDATE"}

// validateRuleWithOperations validates a rule that requests match.
func validateRuleWithOperations(r *walk.Report, p walk.Place) {
	operations := p.At("operations")
	if operations.Len() == 0 {
		r.Required(operations, "")
	}
	validateWildcardAlone(r, operations, "operations")
	for i := range operations.Indexes() {
		r.OnlyAmong(operations.Index(i), operationTypes...)
	}
	groups, versions := p.At("apiGroups"), p.At("apiVersions")
	if groups.Len() == 0 {
		r.Required(groups, "")
	}
	validateWildcardAlone(r, groups, "API groups")
	if versions.Len() == 0 {
		r.Required(versions, "")
	}
	validateWildcardAlone(r, versions, "API versions")
	for i := range versions.Indexes() {
		r.Present(versions.Index(i))
	}
	validateRuleResources(r, p.At("resources"))
	if scope := p.At("scope"); scope.IsSet() {
		r.OnlyAmong(scope, "*", "Cluster", "Namespaced")
	}
}

// validateWildcardAlone refuses a list that has a wildcard beside others.
func validateWildcardAlone(r *walk.Report, p walk.Place, what string) {
	if p.Len() > 1 && slices.Contains(walk.Texts(p.Value), "*") {
		r.Invalid(p, "if '*' is present, must not specify other "+what)
	}
}

// validateRuleResources validates resources and subresources, of which either part may be a wildcard.
//
// No entry may be covered by another one: "pods/*" covers "pods/status" if it comes first. The last entry without a slash decides whether
// "*" has company, which is an oddity of kube-apiserver.
func validateRuleResources(r *walk.Report, p walk.Place) {
	if p.Len() == 0 {
		r.Required(p, "")
	}
	var resources, subresources walk.Names // that have a wildcard for the other part
	all, plain := false, false
	for i := range p.Indexes() {
		text := p.Index(i)
		if !r.Present(text) {
			continue
		}
		all = all || text.Str() == "*"
		resource, subresource, below := strings.Cut(text.Str(), "/")
		if !below {
			plain = resource != "*"
			continue
		}
		if resources.Has(resource) {
			r.Invalid(text, "if '"+resource+"/*' is present, must not specify "+text.Str())
		}
		if subresources.Has(subresource) {
			r.Invalid(text, "if '*/"+subresource+"' is present, must not specify "+text.Str())
		}
		if subresource == "*" {
			resources.Add(resource)
		}
		if resource == "*" {
			subresources.Add(subresource)
		}
	}
	if p.Len() > 1 && slices.Contains(walk.Texts(p.Value), "*/*") {
		r.Invalid(p, "if '*/*' is present, must not specify other resources")
	}
	if all && plain {
		r.Invalid(p, "if '*' is present, must not specify other resources without subresources")
	}
}

// validateParamKind validates the kind of the parameters of a policy.
func validateParamKind(r *walk.Report, p walk.Place) {
	if !p.IsSet() {
		return
	}
	version, kind := p.At("apiVersion"), p.At("kind")
	if r.Present(version) {
		validateParamVersion(r, version)
	}
	if r.Present(kind) {
		if wrong := validation.IsDNS1035Label(strings.ToLower(kind.Str())); len(wrong) > 0 {
			r.Invalid(kind, "may have mixed case, but should otherwise match: "+strings.Join(wrong, ","))
		}
	}
}

// validateParamVersion validates an apiVersion: a version, or a group and a version. The core group has no name.
func validateParamVersion(r *walk.Report, p walk.Place) {
	group, version, qualified := strings.Cut(p.Str(), "/")
	switch {
	case p.Str() == "/":
		group, version = "", ""
	case strings.Contains(version, "/"):
		r.Invalid(p, "unexpected GroupVersion string: "+p.Str())
		return
	case !qualified:
		group, version = "", group
	}
	if wrong := validation.IsDNS1123Subdomain(group); group != "" && len(wrong) > 0 {
		r.InvalidAs(p, group, strings.Join(wrong, ","))
	}
	if version == "" {
		r.Invalid(p, "version must be specified")
	} else if wrong := validation.IsDNS1035Label(version); len(wrong) > 0 {
		r.InvalidAs(p, version, strings.Join(wrong, ","))
	}
}

// validateParamRef validates which parameters a binding refers to.
//
// A binding names one object of parameters, or selects several.
func validateParamRef(r *walk.Report, p walk.Place) {
	if !p.IsSet() {
		return
	}
	const exclusive = "name and selector are mutually exclusive"
	name, selector, action := p.At("name"), p.At("selector"), p.At("parameterNotFoundAction")
	if name.Str() != "" {
		r.Invalid(name, content.IsPathSegmentName(name.Str())...)
		if selector.IsSet() {
			r.Forbidden(name, exclusive)
		}
	}
	if selector.IsSet() {
		if r.Selector(selector); name.Str() != "" {
			r.Forbidden(selector, exclusive)
		}
	}
	if name.Str() == "" && !selector.IsSet() {
		r.Required(p, "one of name or selector must be specified")
	}
	r.Among(action, "Deny", "Allow")
}

// policy validates what policies that validate and those that mutate have in common.
//
// mutating tells that the policy changes objects, which it cannot do in a deletion.
func (r *expressions) policy(spec walk.Place, was value.Value, mutating bool) {
	if failure := spec.At("failurePolicy"); !failure.IsSet() {
		r.Required(failure, "")
	} else {
		r.OnlyAmong(failure, "Fail", "Ignore")
	}
	validateParamKind(r.Report, spec.At("paramKind"))
	constraints := spec.At("matchConstraints")
	if !constraints.IsSet() {
		r.Required(constraints, "")
	} else {
		validateMatchResources(r.Report, constraints)
		if rules := constraints.At("resourceRules"); rules.Len() == 0 {
			r.Required(rules, "")
		}
		if mutating {
			validateMutableOperations(r.Report, constraints)
		}
	}
	// Conditions that stay as they are were valid once.
	if conditions := spec.At("matchConditions"); !walk.IsSet(was) || !r.Same(conditions, was.Get("matchConditions")) || !r.Same(spec.At("paramKind"), was.Get("paramKind")) {
		r.matchConditions(conditions)
	}
	variables := spec.At("variables")
	for i := range variables.Indexes() {
		v := variables.Index(i)
		name, expression := v.At("name"), v.At("expression")
		if strings.TrimSpace(name.Str()) == "" {
			r.Required(name, "name is not specified")
		} else if !celName().MatchString(name.Str()) || slices.Contains(celReserved, name.Str()) {
			r.Invalid(name, "must be a valid CEL identifier")
		}
		if strings.TrimSpace(expression.Str()) == "" {
			r.Required(expression, "expression is not specified")
		} else {
			r.Compile(expression, walk.Variable, name.Str())
		}
	}
}

// Names of variables of CEL.
var (
	celName     = walk.LazyRegexp(`^[_a-zA-Z][_a-zA-Z0-9]*$`)
	celReserved = strings.Fields("true false null in as break const continue else for function if import let loop package namespace return " +
		"var void while")
)

// validateMutableOperations refuses operations that nothing can change. The error is not about one rule.
//
// Its path leaves out the index of the rule, as in kube-apiserver.
func validateMutableOperations(r *walk.Report, p walk.Place) {
	told := p.At("resourceRules").At("operations")
	for rule := range p.Get("resourceRules").Items() {
		for operation := range rule.Get("operations").Items() {
			r.OnlyAmong(told.WithValue(operation), "*", "CONNECT", "CREATE", "UPDATE")
		}
	}
}

// matchConditions validates expressions that requests have to meet.
func (r *expressions) matchConditions(p walk.Place) {
	if p.Len() > 64 {
		r.Add(field.TooMany(p.Path(), p.Len(), 64))
	}
	var met walk.Names
	for i := range p.Indexes() {
		c := p.Index(i)
		name, expression := c.At("name"), c.At("expression")
		if strings.TrimSpace(expression.Str()) == "" {
			r.Required(expression, "")
		} else {
			r.Compile(expression, walk.MatchCondition, "")
		}
		if r.Present(name) {
			r.LabelKey(name)
			if !met.Add(name.Str()) {
				r.Duplicate(name)
			}
		}
	}
}

// validatePolicy validates a ValidatingAdmissionPolicy.
//
// A policy without validations and annotations has no effect. Nothing else is checked then.
func validatePolicy(r *walk.Report, object walk.Place, live value.Value) {
	spec := object.At("spec")
	e := policyExpressions(r, spec.Value, false)
	e.policy(spec, live.Get("spec"), false)
	validations, annotations := spec.At("validations"), spec.At("auditAnnotations")
	if validations.Len() == 0 && annotations.Len() == 0 {
		const one = "validations or auditAnnotations must contain at least one item"
		r.Required(validations, one)
		r.Required(annotations, one)
		return
	}
	for i := range validations.Indexes() {
		e.validation(validations.Index(i))
	}
	if annotations.Len() > 20 {
		r.Invalid(annotations, "must not have more than 20 auditAnnotations")
	}
	var met walk.Names
	for i := range annotations.Indexes() {
		a := annotations.Index(i)
		key := a.At("key")
		e.auditAnnotation(a, object.Get("metadata", "name").Str())
		if !met.Add(key.Str()) {
			r.Duplicate(key)
		}
	}
}

// validatePolicyStatus validates what type checking found in a ValidatingAdmissionPolicy.
func validatePolicyStatus(r *walk.Report, object walk.Place, live value.Value) {
	warnings := object.At("status").At("typeChecking").At("expressionWarnings")
	for i := range warnings.Indexes() {
		w := warnings.Index(i)
		r.Present(w.At("warning"))
		field := w.At("fieldRef")
		switch text := strings.TrimSpace(field.Str()); {
		case text == "":
			r.Required(field, "")
		default:
			if err := jsonpath.New("spec").Parse("{" + text + "}"); err != nil {
				r.InvalidAs(field, text, fmt.Sprintf("invalid JSONPath: %v", err))
			}
		}
	}
	walk.ValidateConditions(r, object, live)
}

var refusalReasons = []string{"Forbidden", "Invalid", "RequestEntityTooLarge"}

// validation validates one expression and what it says of an object that does not meet it.
func (r *expressions) validation(p walk.Place) {
	expression, message, shown := p.At("expression"), p.At("message"), p.At("messageExpression")
	if strings.TrimSpace(expression.Str()) == "" {
		r.Required(expression, "expression is not specified")
	} else {
		r.Compile(expression, walk.Validation, "")
	}
	switch {
	case shown.Str() == "":
	case strings.TrimSpace(shown.Str()) == "":
		r.Invalid(shown, "must be non-empty if specified")
	default:
		r.Compile(shown, walk.Message, "")
	}
	switch text := strings.TrimSpace(message.Str()); {
	case message.Str() != "" && text == "":
		r.Invalid(message, "must be non-empty if specified")
	case strings.ContainsAny(text, "\n\r"):
		r.Invalid(message, "must not contain line breaks")
	}
	if reason := p.At("reason"); reason.IsSet() {
		r.OnlyAmong(reason, refusalReasons...)
	}
}

// auditAnnotation validates an annotation. Its key is qualified by the name of the policy, so the two together must be a qualified name.
func (r *expressions) auditAnnotation(p walk.Place, policy string) {
	key, expression := p.At("key"), p.At("valueExpression")
	if policy == "" {
		r.Invalid(key, "requires metadata.name be non-empty")
	} else {
		named := policy + "/" + key.Str()
		r.InvalidAs(key, named, validation.IsQualifiedName(named)...)
	}
	switch text := strings.TrimSpace(expression.Str()); {
	case text == "":
		r.Required(expression, "valueExpression is not specified")
	case len(text) > 5*1024:
		r.Required(expression, "must not exceed 5120 bytes in length")
	default:
		r.Compile(expression, walk.AuditAnnotation, "")
	}
}

// validatePolicyBinding validates a ValidatingAdmissionPolicyBinding.
func validatePolicyBinding(r *walk.Report, object walk.Place, _ value.Value) {
	spec := object.At("spec")
	if policy := spec.At("policyName"); policy.Str() == "" {
		r.RequiredLater(policy, "")
	} else {
		r.Subdomain(policy)
	}
	validateParamRef(r, spec.At("paramRef"))
	validateMatchResources(r, spec.At("matchResources"))
	actions := spec.At("validationActions")
	var met walk.Names
	for i := range actions.Indexes() {
		action := actions.Index(i)
		r.OnlyAmong(action, "Audit", "Deny", "Warn")
		if !met.Add(action.Str()) {
			r.Add(field.Duplicate(action.Path(), walk.Enumeration(action.Str())))
		}
	}
	if met.Has("Deny") && met.Has("Warn") {
		r.Invalid(actions, "must not contain both Deny and Warn (repeating the same validation failure information in the API response and "+
			"headers serves no purpose)")
	}
	if actions.Len() == 0 {
		r.RequiredLater(actions, r.Worded("at least one validation action is required", ""))
	}
}

// validateMutatingPolicy validates a MutatingAdmissionPolicy.
func validateMutatingPolicy(r *walk.Report, object walk.Place, live value.Value) {
	spec := object.At("spec")
	e := policyExpressions(r, spec.Value, true)
	e.policy(spec, live.Get("spec"), true)
	mutations := spec.At("mutations")
	if mutations.Len() == 0 {
		r.Required(mutations, "mutations must contain at least one item")
	}
	for i := range mutations.Indexes() {
		e.mutation(mutations.Index(i))
	}
	r.Among(spec.At("reinvocationPolicy"), "IfNeeded", "Never")
}

// mutation validates a change, which is one of two types.
func (r *expressions) mutation(p walk.Place) {
	typ := p.At("patchType")
	members := map[string][2]string{"JSONPatch": {"jsonPatch", "applyConfiguration"}, "ApplyConfiguration": {"applyConfiguration", "jsonPatch"}}
	of, known := members[typ.Str()]
	if !known {
		r.Among(typ, "ApplyConfiguration", "JSONPatch")
		return
	}
	if patch := p.At(of[0]); !patch.IsSet() {
		r.Required(patch, "must be specified when patchType is "+typ.Str())
	} else if expression := patch.At("expression"); strings.TrimSpace(expression.Str()) == "" {
		r.Required(expression, "")
	} else {
		r.Compile(expression, map[string]walk.Use{"JSONPatch": walk.JSONPatch, "ApplyConfiguration": walk.Patch}[typ.Str()], "")
	}
	if other := p.At(of[1]); other.IsSet() {
		r.InvalidAs(other, "{"+of[1]+"}", "must not be specified when patchType is "+typ.Str())
	}
}

// validateMutatingBinding validates a MutatingAdmissionPolicyBinding.
func validateMutatingBinding(r *walk.Report, object walk.Place, _ value.Value) {
	spec := object.At("spec")
	if policy := spec.At("policyName"); r.Present(policy) {
		r.Subdomain(policy)
	}
	validateParamRef(r, spec.At("paramRef"))
	resources := spec.At("matchResources")
	validateMatchResources(r, resources)
	if resources.IsSet() {
		validateMutableOperations(r, resources)
	}
}

// expressions are the expressions of a policy.
type expressions struct{ walk.Expressions }

// policyExpressions returns the expressions of a policy.
func policyExpressions(r *walk.Report, spec value.Value, mutating bool) *expressions {
	return &expressions{walk.Expressions{Report: r, Composed: mutating || spec.Get("variables").Len() > 0, Params: walk.IsSet(spec.Get("paramKind"))}}
}
