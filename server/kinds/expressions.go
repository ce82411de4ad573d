package kinds

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/value"
)

// Use says what an expression in CEL is for, which decides its variables and its type.
type Use uint8

// The uses.
const (
	MatchCondition  Use = iota // whether a policy is about a request
	Variable                   // a value that later expressions of the policy use by its name
	Validation                 // whether a request is valid
	Message                    // what a refusal says
	AuditAnnotation            // the value of an annotation
	Patch                      // an apply configuration
	JSONPatch                  // a JSON patch
	Selector                   // whether a device is suitable
)

// Compiler compiles the expressions of one object.
type Compiler interface {
	// Compile returns what is wrong with an expression: the type and the detail of an error, or nil. A variable is kept under its name, even a
	// wrong one. params tells that expressions may use the parameters of a policy.
	Compile(use Use, name, text string, params bool) *field.Error
}

// WithExpressions returns the kind with a function that makes a Compiler for an object. composed tells that the object has variables. Without
// one, validation finds no errors in expressions that are there: programs that start fast do without compilers.
func (k Kind) WithExpressions(compiler func(composed bool) Compiler) Kind {
	k.compiler = compiler
	return k
}

// expressions compiles the expressions of a policy.
type expressions struct {
	*report
	composed, params bool
	compiler         Compiler // nil before the first expression
}

// policyExpressions returns what compiles the expressions of a policy.
func (r *report) policyExpressions(spec value.Value, mutating bool) *expressions {
	return &expressions{report: r, composed: mutating || spec.Get("variables").Len() > 0, params: isSet(spec.Get("paramKind"))}
}

// Expressions that are compiled, or shown in refusals, without the spaces around them.
var (
	compiledTrimmed = []Use{MatchCondition, AuditAnnotation, Patch, JSONPatch}
	shownTrimmed    = []Use{MatchCondition, Patch, JSONPatch}
)

// compile refuses an expression that does not compile.
func (e *expressions) compile(p place, use Use, name string) {
	if e.report.compiler == nil || p.over() {
		return
	}
	if e.compiler == nil {
		e.compiler = e.report.compiler(e.composed)
	}
	text, shown := p.Str(), p.Str()
	if slices.Contains(compiledTrimmed, use) {
		text = strings.TrimSpace(text)
	}
	if slices.Contains(shownTrimmed, use) {
		shown = strings.TrimSpace(shown)
	}
	err := e.compiler.Compile(use, name, text, e.params)
	if err == nil {
		return
	}
	err.Field = p.path().String()
	if err.Type == field.ErrorTypeInvalid {
		err.BadValue = shown
	}
	e.add(err)
}
