// Package cel has the environment in which expressions in CEL are compiled: rules of definitions, conditions of webhooks, and policies.
//
// It is kube-apiserver's, except for what costs more than the library counts. The library counts the characters of a quantity; but
// quantity("1e999999999") takes minutes and gigabytes for the digits. Here the functions quantity and isQuantity fail for a text beyond
// the bounds of package schema/form, with [form.ErrQuantityPower] or [form.ErrQuantityLength].
package cel

import (
	"errors"
	"fmt"
	"sync"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/deed-project/deed/schema/form"
)

// Environment returns the environment, which the process shares. The first call takes milliseconds.
var Environment = sync.OnceValue(func() *environment.EnvSet {
	base := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
	bounded, err := base.Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions: []celgo.EnvOption{
			celgo.Function("quantity", celgo.Overload("string_to_quantity", []*celgo.Type{celgo.StringType}, cel.QuantityType,
				celgo.UnaryBinding(quantity))),
			celgo.Function("isQuantity", celgo.Overload("is_quantity_string", []*celgo.Type{celgo.StringType}, celgo.BoolType,
				celgo.UnaryBinding(isQuantity))),
		},
	})
	if err != nil {
		panic(fmt.Errorf("bounding quantities: %w", err)) // cannot be: the signatures are the library's, see TestQuantities
	}
	return bounded
})

// Beyond returns the bound that a text exceeds as a quantity, nil for every other text.
func Beyond(text string) error {
	if _, err := form.Quantity(text); IsBeyond(err) {
		return err
	}
	return nil
}

// IsBeyond reports whether err is about a quantity beyond a bound. The error of an expression is, if such a quantity made it fail.
func IsBeyond(err error) bool {
	return errors.Is(err, form.ErrQuantityPower) || errors.Is(err, form.ErrQuantityLength)
}

// quantity implements the function of the same name.
func quantity(arg ref.Val) ref.Val {
	q, failure, err := read(arg)
	switch {
	case failure != nil:
		return failure
	case err != nil:
		return types.WrapErr(err)
	}
	return cel.Quantity{Quantity: &q}
}

// isQuantity implements the function of the same name.
func isQuantity(arg ref.Val) ref.Val {
	_, failure, err := read(arg)
	if failure != nil {
		return failure
	}
	return types.Bool(err == nil)
}

// read reads a quantity. A failure is that of an argument that is no text, or beyond the bounds.
func read(arg ref.Val) (q resource.Quantity, failure ref.Val, err error) {
	text, ok := arg.Value().(string)
	if !ok {
		return q, types.MaybeNoSuchOverloadErr(arg), nil
	}
	if err := Beyond(text); err != nil {
		return q, types.WrapErr(err), nil
	}
	q, err = resource.ParseQuantity(text)
	return q, nil, err
}
