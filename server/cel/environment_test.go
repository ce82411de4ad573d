package cel_test

import (
	"errors"
	"testing"

	"github.com/google/cel-go/interpreter"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/deed-project/deed/schema/form"
	"github.com/deed-project/deed/server/cel"
)

// TestQuantities evaluates expressions about quantities as the library does, but for quantities beyond the bounds.
func TestQuantities(t *testing.T) {
	for _, of := range []environment.Type{environment.NewExpressions, environment.StoredExpressions} {
		env, err := cel.Environment().Env(of)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Env(of)
		if err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct {
			expression string
			beyond     error
		}{
			{`quantity("1.5Gi").isGreaterThan(quantity("1"))`, nil},
			{`quantity("x").isLessThan(quantity("1"))`, nil},
			{`isQuantity("1e1024") && !isQuantity("1x")`, nil},
			{`quantity("1e999999999").isLessThan(quantity("1"))`, form.ErrQuantityPower},
			{`quantity("1e-9" + "99999999").isLessThan(quantity("1"))`, form.ErrQuantityPower},
			{`isQuantity("1e999999999")`, form.ErrQuantityPower},
		} {
			ast, issues := env.Compile(test.expression)
			if issues.Err() != nil {
				t.Fatalf("%s: %v", test.expression, issues.Err())
			}
			program, err := env.Program(ast)
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := program.Eval(interpreter.EmptyActivation())
			if test.beyond != nil {
				if !errors.Is(err, test.beyond) {
					t.Errorf("%s: %v, %v, want %v", test.expression, got, err, test.beyond)
				}
				continue
			}
			ast, _ = plain.Compile(test.expression)
			library, wantErr := plain.Program(ast)
			if wantErr != nil {
				t.Fatal(wantErr)
			}
			want, _, wantErr := library.Eval(interpreter.EmptyActivation())
			if (err == nil) != (wantErr == nil) || err == nil && got != want || err != nil && err.Error() != wantErr.Error() {
				t.Errorf("%s: %v, %v; the library: %v, %v", test.expression, got, err, want, wantErr)
			}
		}
	}
}
