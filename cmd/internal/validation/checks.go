package validation

import (
	"errors"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Checks are the checks that need large libraries of kube-apiserver: CEL rules, expressions in CEL, and definitions of custom resources. Package
// checks makes them in the process. Package checkpipe lets another program make them. They are safe for concurrent use.
type Checks interface {
	// Rules returns the CEL rules of an openAPIV3Schema. They are compiled on first use.
	Rules(openAPIV3Schema value.Value) Rules
	// Whole checks object, of a built-in kind, which replaces live through a subresource. An absent live means that object is new. Both are as a
	// server has them before it stores them. The error says why the checks cannot be made.
	Whole(gvk schema.GVK, subresource string, object, live value.Value) (Checked, error)
}

// Checked is the result of checks: what a server refuses, and what it warns of.
type Checked struct {
	Errors   field.ErrorList
	Warnings []string
}

// Rules are the CEL rules of a schema. They check object, which replaces live or is new. errs are the errors of object that are known: with some
// types of them, a server evaluates no rules. Rules warn of what live breaks, too. The error says why the checks cannot be made.
type Rules func(errs field.ErrorList, object, live value.Value) (Checked, error)

// checks returns the checks of s.
func (s Server) checks() Checks {
	if s.Checks == nil {
		return none{}
	}
	return s.Checks
}

// none makes no checks.
type none struct{}

// errNone is the error of none.
var errNone = errors.New("this program has no libraries for them")

func (none) Rules(value.Value) Rules {
	return func(field.ErrorList, value.Value, value.Value) (Checked, error) { return Checked{}, errNone }
}

func (none) Whole(schema.GVK, string, value.Value, value.Value) (Checked, error) {
	return Checked{}, errNone
}

// because returns what is not checked, and the reason.
func because(what string, err error) string { return what + " (" + secret.Open.Error(err) + ")" }
