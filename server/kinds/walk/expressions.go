package walk

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
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

// Expressions compiles the expressions of an object.
type Expressions struct {
	*Report
	Composed, Params bool     // whether the expressions see variables, and params
	compiler         Compiler // nil before the first expression
}

// Expressions that are compiled, or shown in refusals, without the spaces around them.
var (
	compiledTrimmed = []Use{MatchCondition, AuditAnnotation, Patch, JSONPatch}
	shownTrimmed    = []Use{MatchCondition, Patch, JSONPatch}
)

// Compile refuses an expression that does not compile.
func (e *Expressions) Compile(p Place, use Use, name string) {
	if e.Report.Compiler == nil || p.Over() {
		return
	}
	if e.compiler == nil {
		e.compiler = e.Report.Compiler(e.Composed)
	}
	text, shown := p.Str(), p.Str()
	if slices.Contains(compiledTrimmed, use) {
		text = strings.TrimSpace(text)
	}
	if slices.Contains(shownTrimmed, use) {
		shown = strings.TrimSpace(shown)
	}
	err := e.compiler.Compile(use, name, text, e.Params)
	if err == nil {
		return
	}
	err.Field = p.Path().String()
	if err.Type == field.ErrorTypeInvalid {
		err.BadValue = shown
	}
	e.Add(err)
}
