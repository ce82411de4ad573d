package walk

import "k8s.io/apimachinery/pkg/util/validation/field"

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
