package webhook

import (
	stderrors "errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	registration "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	kcel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	bounded "github.com/deed-project/deed/server/cel"
)

// checker returns the compiler that validates expressions.
var checker = sync.OnceValue(func() cel.Compiler {
	return cel.NewCompiler(bounded.Environment())
})

// conditions checks the number of match conditions, their names, and that their expressions compile.
//
// The faults of each condition come before a repeated name, in kube-apiserver's order.
func (v *validator) conditions(list []registration.MatchCondition, path *field.Path) {
	if len(list) > maxConditions {
		v.add(field.TooMany(path, len(list), maxConditions))
	}
	names := map[string]bool{}
	for i, c := range list {
		v.condition(c, path.Index(i))
		if c.Name != "" && names[c.Name] {
			v.add(field.Duplicate(path.Index(i).Child("name"), c.Name))
		}
		names[c.Name] = true
	}
}

// condition checks one condition. A missing name ends its checks.
func (v *validator) condition(c registration.MatchCondition, path *field.Path) {
	if expression := strings.TrimSpace(c.Expression); expression == "" {
		v.add(field.Required(path.Child("expression"), ""))
	} else {
		v.expression(expression, path.Child("expression"))
	}
	if c.Name == "" {
		v.add(field.Required(path.Child("name"), ""))
		return
	}
	for _, text := range validation.IsQualifiedName(c.Name) {
		v.add(field.Invalid(path.Child("name"), c.Name, text))
	}
}

// expression checks that an expression compiles. An expression of the old configuration may use features that new expressions may not use
// yet.
func (v *validator) expression(text string, path *field.Path) {
	mode := environment.NewExpressions
	if slices.Contains(v.known, text) {
		mode = environment.StoredExpressions
	}
	found := checker().CompileCELExpression(&matchconditions.MatchCondition{Expression: text},
		cel.OptionalVariableDeclarations{HasAuthorizer: true}, mode)
	if found.Error == nil {
		return
	}
	switch err := found.Error; err.Type {
	case kcel.ErrorTypeRequired:
		v.add(field.Required(path, err.Detail))
	case kcel.ErrorTypeInvalid:
		v.add(field.Invalid(path, text, err.Detail))
	case kcel.ErrorTypeInternal:
		v.add(field.InternalError(path, err))
	default:
		v.add(field.InternalError(path, fmt.Errorf("unsupported error type: %w", stderrors.New(err.Detail))))
	}
}
