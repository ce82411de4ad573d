package policy

import (
	"fmt"
	"sync"

	celgo "github.com/google/cel-go/cel"
	registration "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/cel/environment"

	bounded "github.com/deed-project/deed/server/cel"
)

// Compiling expressions. The first request that a policy and a binding match compiles all expressions of the policy, since CEL takes
// milliseconds. An expression that does not compile fails when it is evaluated.

// compiled holds the compiled expressions of a policy.
//
// once guards the other fields. They do not change after the first call of expressionsOf.
type compiled struct {
	once sync.Once
	err  error // the compiler itself cannot be made

	compiler    *cel.CompositedCompiler
	matcher     matchconditions.Matcher // nil if there are no match conditions
	validations cel.ConditionEvaluator
	messages    cel.ConditionEvaluator // nil if no validation has an expression for its message
	annotations cel.ConditionEvaluator
	mutations   []cel.MutatingEvaluator

	used usage
}

// expression is an expression that must have one of some types.
type expression struct {
	text  string
	types []*celgo.Type
}

// GetExpression returns the text.
func (e *expression) GetExpression() string { return e.text }

// ReturnTypes returns the types.
func (e *expression) ReturnTypes() []*celgo.Type { return e.types }

// variable is an expression that other expressions read by its name.
type variable struct {
	expression
	name string
}

// GetName returns the name.
func (v *variable) GetName() string { return v.name }

// expressionsOf returns the compiled expressions of a policy.
func (p *policy) expressionsOf() *compiled {
	c := p.compiled
	c.once.Do(func() { c.compile(p) })
	return c
}

// compile compiles all expressions. Variables come first, because the other expressions and later variables may read them.
func (c *compiled) compile(p *policy) {
	if c.compiler, c.err = cel.NewCompositedCompiler(bounded.Environment()); c.err != nil {
		c.err = fmt.Errorf("failed to initialize CEL compiler: %w", c.err)
		return
	}
	options := cel.OptionalVariableDeclarations{HasParams: p.paramKind != nil, HasAuthorizer: true}
	for _, v := range p.variables {
		c.compiler.CompileAndStoreVariable(&variable{c.read(v.Expression, celgo.AnyType, celgo.DynType), v.Name}, options, stored)
	}
	if len(p.conditions) > 0 {
		of := make([]cel.ExpressionAccessor, len(p.conditions))
		for i := range p.conditions {
			of[i] = (*matchconditions.MatchCondition)(&p.conditions[i])
			c.used.note(p.conditions[i].Expression)
		}
		policy := registration.Fail
		if p.failOpen {
			policy = registration.Ignore
		}
		c.matcher = matchconditions.NewMatcher(c.compiler.CompileCondition(of, options, stored), &policy, "policy", "validate", p.name)
	}
	c.compileValidations(p, options)
	c.compileMutations(p, options)
}

// stored is the mode for expressions of stored policies. It knows all that a newer server might have accepted.
const stored = environment.StoredExpressions

// read returns an expression that must have one of some types.
func (c *compiled) read(text string, types ...*celgo.Type) expression {
	c.used.note(text)
	return expression{text, types}
}

// compileValidations compiles what a policy that validates has. Expressions for messages may not check permissions.
func (c *compiled) compileValidations(p *policy, options cel.OptionalVariableDeclarations) {
	validations, annotations := make([]cel.ExpressionAccessor, len(p.validations)), make([]cel.ExpressionAccessor, len(p.annotations))
	messages, hasMessages := make([]cel.ExpressionAccessor, len(p.validations)), false
	for i, v := range p.validations {
		of := c.read(v.Expression, celgo.BoolType)
		validations[i] = &of
		if v.MessageExpression != "" {
			of := c.read(v.MessageExpression, celgo.StringType)
			messages[i], hasMessages = &of, true
		}
	}
	for i, a := range p.annotations {
		of := c.read(a.ValueExpression, celgo.StringType, celgo.NullType)
		annotations[i] = &of
	}
	c.validations = c.compiler.CompileCondition(validations, options, stored)
	c.annotations = c.compiler.CompileCondition(annotations, options, stored)
	if hasMessages {
		options.HasAuthorizer = false
		c.messages = c.compiler.CompileCondition(messages, options, stored)
	}
}

// compileMutations compiles what a policy that mutates has.
func (c *compiled) compileMutations(p *policy, options cel.OptionalVariableDeclarations) {
	options.HasPatchTypes = true
	for _, m := range p.mutations {
		text, typ := "", celgo.ListType(patchType)
		switch {
		case m.PatchType == registration.PatchTypeJSONPatch && m.JSONPatch != nil:
			text = m.JSONPatch.Expression
		case m.PatchType == registration.PatchTypeApplyConfiguration && m.ApplyConfiguration != nil:
			text, typ = m.ApplyConfiguration.Expression, configurationType
		}
		of := c.read(text, typ)
		c.mutations = append(c.mutations, c.compiler.CompileMutatingEvaluator(&of, options, stored))
	}
}

// The types of the outcomes of mutations.
var (
	patchType         = celgo.ObjectType("JSONPatch")
	configurationType = celgo.ObjectType("Object")
)
