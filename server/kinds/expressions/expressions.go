// Package expressions compiles the expressions in CEL of built-in kinds, with the libraries of kube-apiserver: those of admission policies, and
// selectors of devices.
//
// Nothing of CEL is initialized before the first expression.
package expressions

import (
	"errors"
	"sync"

	celgo "github.com/google/cel-go/cel"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	devicecel "k8s.io/dynamic-resource-allocation/cel"

	bounded "github.com/deed-project/deed/server/cel"
	"github.com/deed-project/deed/server/kinds/walk"
)

// plain compiles expressions without variables. It has no state, and the process shares it.
var plain = sync.OnceValue(func() plugincel.Compiler { return plugincel.NewCompiler(bounded.Environment()) })

// New returns a compiler for the expressions of one object; composed tells that it has variables.
func New(composed bool) walk.Compiler {
	if !composed {
		return &compiler{}
	}
	c, err := plugincel.NewCompositedCompiler(bounded.Environment())
	if err != nil {
		return &compiler{} // cannot be: the environment takes a variable of the name that the library gives
	}
	return &compiler{composed: c}
}

// compiler implements walk.Compiler.
type compiler struct {
	composed *plugincel.CompositedCompiler // nil for an object without variables
}

// Compile compiles an expression for a use.
func (c *compiler) Compile(use walk.Use, name, text string, params bool) *field.Error {
	if use == walk.Selector {
		return selector(text)
	}
	e := expression{name, text, types[use]}
	options := plugincel.OptionalVariableDeclarations{
		HasParams: params, HasAuthorizer: use != walk.Message, HasPatchTypes: use == walk.Patch || use == walk.JSONPatch,
	}
	var result plugincel.CompilationResult
	switch {
	case use == walk.Variable && c.composed != nil:
		result = c.composed.CompileAndStoreVariable(e, options, environment.NewExpressions)
	case use == walk.MatchCondition || c.composed == nil: // conditions see no variables
		result = plain().CompileCELExpression(e, options, environment.NewExpressions)
	default:
		result = c.composed.CompileCELExpression(e, options, environment.NewExpressions)
	}
	if result.Error == nil {
		return nil
	}
	return refusal(result.Error)
}

// types are what the uses may return. Variables have any type.
var types = map[walk.Use][]*celgo.Type{
	walk.MatchCondition:  {celgo.BoolType},
	walk.Variable:        {celgo.AnyType, celgo.DynType},
	walk.Validation:      {celgo.BoolType},
	walk.Message:         {celgo.StringType},
	walk.AuditAnnotation: {celgo.StringType, celgo.NullType},
	walk.Patch:           {celgo.ObjectType("Object")},
	walk.JSONPatch:       {celgo.ListType(celgo.ObjectType("JSONPatch"))},
}

// expression implements the interfaces by which the library sees expressions.
type expression struct {
	name, text string
	types      []*celgo.Type
}

func (e expression) GetName() string            { return e.name }
func (e expression) GetExpression() string      { return e.text }
func (e expression) ReturnTypes() []*celgo.Type { return e.types }

// refusal returns the type and the detail of a validation error for an error of CEL.
func refusal(err error) *field.Error {
	var found *cel.Error
	if errors.As(err, &found) {
		switch found.Type {
		case cel.ErrorTypeRequired:
			return field.Required(nil, found.Detail)
		case cel.ErrorTypeInvalid:
			return field.Invalid(nil, nil, found.Detail)
		}
	}
	return field.InternalError(nil, err)
}

// selector returns what is wrong with an expression that devices have to meet: it does not compile, or costs too much.
func selector(text string) *field.Error {
	if len(text) > resourceapi.CELSelectorExpressionMaxLength {
		return field.TooLong(nil, "", resourceapi.CELSelectorExpressionMaxLength)
	}
	env := environment.NewExpressions
	result := devicecel.GetCompiler(devicecel.Features{EnableConsumableCapacity: true}).CompileCELExpression(text, devicecel.Options{EnvType: &env})
	switch {
	case result.Error != nil:
		return refusal(result.Error)
	case result.MaxCost > resourceapi.CELSelectorExpressionMaxCost:
		return field.Forbidden(nil, "too complex, exceeds cost limit")
	}
	return nil
}
