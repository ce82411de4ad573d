// Package typecheck finds expressions of ValidatingAdmissionPolicies that do not fit the types of what the policies match, as
// kube-controller-manager does. The warnings are advice: a policy with warnings works.
package typecheck

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	celgo "github.com/google/cel-go/cel"
	registration "k8s.io/api/admissionregistration/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	kcel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
	"k8s.io/apiserver/pkg/cel/openapi"
	"k8s.io/kube-openapi/pkg/validation/spec"

	bounded "github.com/deed-project/deed/server/cel"
)

// Checker checks policies.
type Checker struct {
	// Kinds returns the kinds of a resource. The empty group means all groups, as in kube-controller-manager.
	Kinds func(resource kschema.GroupVersionResource) []kschema.GroupVersionKind
	// Schema returns the schema of a kind, without references, or nil if there is none.
	Schema func(kind kschema.GroupVersionKind) (*spec.Schema, error)
}

// maxKinds bounds the kinds of a rule that are checked, as in kube-controller-manager.
const maxKinds = 10

// checked is a kind that a policy matches. Without a type, expressions may read anything.
type checked struct {
	kind kschema.GroupVersionKind
	typ  *kcel.DeclType
}

// Check returns a warning for each expression of a validation, and of its message, that does not fit. A warning has a line for each kind,
// by group, version and kind. The error joins those of schemas that cannot be read; their kinds are not checked.
//
// Other expressions are not checked. Neither are kinds that a rule names by a star.
func (c Checker) Check(policy *registration.ValidatingAdmissionPolicy) ([]registration.ExpressionWarning, error) {
	var errs []error
	var kinds []checked
	for _, kind := range c.kindsOf(policy) {
		typ, err := c.typeOf(kind, kind.Kind+"1")
		if err != nil {
			errs = append(errs, err)
		}
		if typ != nil {
			kinds = append(kinds, checked{kind, typ})
		}
	}
	var params *checked
	if of := policy.Spec.ParamKind; of != nil {
		params = &checked{kind: kschema.FromAPIVersionAndKind(of.APIVersion, of.Kind)}
		var err error
		if params.typ, err = c.typeOf(params.kind, params.kind.Kind+"2"); err != nil {
			errs = append(errs, err)
		}
	}
	var out []registration.ExpressionWarning
	check := func(expression string, at *field.Path) {
		var b strings.Builder
		for _, of := range kinds {
			if problem := problem(expression, policy.Spec.Variables, of, params); problem != "" {
				if b.Len() > 0 {
					b.WriteByte('\n')
				}
				fmt.Fprintf(&b, "%v: %s\n", of.kind, problem)
			}
		}
		if b.Len() > 0 {
			out = append(out, registration.ExpressionWarning{FieldRef: at.String(), Warning: b.String()})
		}
	}
	for i, v := range policy.Spec.Validations {
		at := field.NewPath("spec", "validations").Index(i)
		check(v.Expression, at.Child("expression"))
		if v.MessageExpression != "" {
			check(v.MessageExpression, at.Child("messageExpression"))
		}
	}
	return out, errors.Join(errs...)
}

// kindsOf returns the kinds that the rules of a policy name, sorted. Once the rules name maxKinds kinds, later ones do not count.
func (c Checker) kindsOf(policy *registration.ValidatingAdmissionPolicy) (out []kschema.GroupVersionKind) {
	if policy.Spec.MatchConstraints == nil {
		return nil
	}
	defer func() {
		slices.SortFunc(out, func(a, b kschema.GroupVersionKind) int {
			return slices.Compare([]string{a.Group, a.Version, a.Kind}, []string{b.Group, b.Version, b.Kind})
		})
	}()
	for _, rule := range policy.Spec.MatchConstraints.ResourceRules {
		count := 0
		for resource := range resourcesOf(rule.Rule) {
			for _, kind := range c.Kinds(resource) {
				if !slices.Contains(out, kind) {
					out = append(out, kind)
				}
				if count++; count == maxKinds {
					return out
				}
			}
		}
	}
	return out
}

// resourcesOf yields the resources that a rule names, sorted. Subresources and stars name none; a star for groups or versions ends it.
func resourcesOf(rule registration.Rule) func(func(kschema.GroupVersionResource) bool) {
	sorted := func(names []string) []string { return slices.Sorted(slices.Values(names)) }
	hasStar := func(name string) bool { return strings.Contains(name, "*") }
	return func(yield func(kschema.GroupVersionResource) bool) {
		if slices.ContainsFunc(rule.APIGroups, hasStar) || slices.ContainsFunc(rule.APIVersions, hasStar) {
			return
		}
		for _, group := range sorted(rule.APIGroups) {
			for _, version := range sorted(rule.APIVersions) {
				for _, name := range sorted(rule.Resources) {
					of := kschema.GroupVersionResource{Group: group, Version: version, Resource: name}
					if !strings.ContainsAny(name, "*/") && !yield(of) {
						return
					}
				}
			}
		}
	}
}

// typeOf returns the type of a kind with a name, nil if the kind has no schema. The names of an object and of parameters differ in their last
// digit. kube-controller-manager has the time there.
func (c Checker) typeOf(kind kschema.GroupVersionKind, name string) (*kcel.DeclType, error) {
	schema, err := c.Schema(kind)
	if err != nil {
		return nil, fmt.Errorf("schema of %v: %w", kind, err)
	}
	if schema == nil {
		return nil, nil
	}
	declared := common.SchemaDeclType(&openapi.Schema{Schema: schema}, true)
	if declared == nil {
		return nil, nil
	}
	return declared.MaybeAssignTypeName(name), nil
}

// problem returns what is wrong with an expression for a kind, empty if it fits.
func problem(text string, variables []registration.Variable, object checked, params *checked) string {
	envs, err := environmentOf(object, params)
	if err != nil {
		return "type checking error: " + err.Error()
	}
	composed, err := cel.NewCompositedCompilerForTypeChecking(envs)
	if err != nil {
		return "type checking error: " + err.Error()
	}
	composed.Compiler = compiler{composed}
	for _, v := range variables {
		composed.CompileAndStoreVariable(expression{v.Name, v.Expression}, cel.OptionalVariableDeclarations{}, environment.StoredExpressions)
	}
	result := composed.CompileCELExpression(expression{"", text}, cel.OptionalVariableDeclarations{}, environment.StoredExpressions)
	switch {
	case result.Error == nil:
		return ""
	case result.Error.Type == kcel.ErrorTypeInvalid:
		return result.Error.Error()
	}
	return "type checking error: " + result.Error.Error()
}

// environmentOf returns the environment of expressions about a kind. Expressions may read the parameters if the policy has some.
func environmentOf(object checked, params *checked) (*environment.EnvSet, error) {
	var options []celgo.EnvOption
	var types []*kcel.DeclType
	declare := func(t *kcel.DeclType, names ...string) {
		of := celgo.DynType
		if t != nil {
			of = t.CelType()
			types = append(types, t)
		}
		for _, name := range names {
			options = append(options, celgo.Variable(name, of))
		}
	}
	declare(cel.BuildNamespaceType(), cel.NamespaceVarName)
	declare(cel.BuildRequestType(), cel.RequestVarName)
	declare(object.typ, cel.ObjectVarName, cel.OldObjectVarName)
	if params != nil {
		declare(params.typ, cel.ParamsVarName)
	}
	options = append(options, celgo.Variable(cel.AuthorizerVarName, library.AuthorizerType))
	return bounded.Environment().Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0), EnvOptions: options, DeclTypes: types,
	})
}

// expression is an expression of any type. A variable has a name.
type expression struct{ name, text string }

// GetExpression returns the text.
func (e expression) GetExpression() string { return e.text }

// GetName returns the name.
func (e expression) GetName() string { return e.name }

// ReturnTypes returns any type.
func (e expression) ReturnTypes() []*celgo.Type { return []*celgo.Type{celgo.AnyType} }

// compiler compiles expressions for their types alone.
type compiler struct{ of *cel.CompositedCompiler }

// CompileCELExpression returns the type of an expression, or what is wrong with it.
func (c compiler) CompileCELExpression(of cel.ExpressionAccessor, _ cel.OptionalVariableDeclarations, mode environment.Type) cel.CompilationResult {
	failed := func(kind kcel.ErrorType, text string) cel.CompilationResult {
		return cel.CompilationResult{ExpressionAccessor: of, Error: &kcel.Error{Type: kind, Detail: text}}
	}
	env, err := c.of.Env(mode)
	if err != nil {
		return failed(kcel.ErrorTypeInternal, fmt.Sprintf("fail to build env: %v", err))
	}
	ast, issues := env.Compile(of.GetExpression())
	if issues != nil {
		return failed(kcel.ErrorTypeInvalid, issues.String())
	}
	return cel.CompilationResult{OutputType: ast.OutputType()}
}
