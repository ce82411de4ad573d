package cel_test

import (
	"fmt"
	"slices"
	"testing"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/deed-project/deed/internal/testing/gen"
	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/server/cel"
	"github.com/deed-project/deed/value"
)

// aboutValues are expressions with every operation on values. The outcome of none depends on the order of names.
var aboutValues = []string{
	"object == object", "object.a == object.a", "object.a == object.b", "[object.a] == [object.b, object.a]", "object.a in [object.b, object.a]",
	"{'a': object.a} == object", "object == {'a': object.a}", "object in [object]", "type(object.a) == type(object.b)", "dyn(object.a) == dyn(1)",
	"has(object.a)", "has(object.a.b)", "has(object.a.b.a)", "object.?a.hasValue()", "object[?'b'].orValue(1) == 1", "object.a.?b.?a.hasValue()",
	"object.a.b.a == null", "object['a']['b'] == object.a.b", "object[1] == 1", "object.a[1] == object.a[1]", "object.a[0].a == 1", "object.a[?0].hasValue()",
	"object.a[-1] == 1", "object.a['b'] == 'b'", "object.a[true]", "object.size() < 2", "size(object.a) == size(object.b)", "object.a.size()",
	"object.all(k, object[k] == object[k])", "object.a.all(x, x == x)", "object.a.exists(x, x in object.a)", "object.a.exists_one(x, x == object.a[0])",
	"object.a.map(x, x).size()", "object.a.filter(x, x != 1).size()", "object.a.all(i, x, x == object.a[i])", "object.transformList(k, v, v).size()",
	"object.a + object.b", "object.a + [] == object.a", "[1] + object.a", "object.a + 1", "object.a - 1.5", "object.a > 1", "object.a && object.b", "!object.a",
	"object.a ? 1 : 2", "-object.a", "'a' in object", "1 in object", "'a' in object.a", "1 in object.a", "object.a.contains('a')", "object.a.startsWith('a')",
	"string(object.a)", "int(object.a)", "double(object.a)", "object.a.isSorted()", "object.a.sum()", "object.a.join(',')", "object.a.indexOf('a')",
	"sets.contains(object.a, object.b)", "object.a.flatten()", "object.a.slice(0, 1)", "quantity(object.a).isGreaterThan(quantity('1'))",
	"object.a.matches('a')", "'%s'.format([object.a])",
}

// document returns a random value of at most the given depth. Few names and scalars make parts alike.
func document(c *gen.Choices, depth int) value.Value {
	if depth > 0 {
		switch c.N(4) {
		case 0:
			var items []value.Value
			for range c.N(4) {
				items = append(items, document(c, depth-1))
			}
			return value.List(items...)
		case 1, 2:
			out := value.Object()
			for range c.N(4) {
				out = out.With(gen.Pick(c, "a", "b", "a__b", "x-y"), document(c, depth-1))
			}
			return out
		}
	}
	return gen.Pick(c, value.Null(), value.Bool(true), value.Bool(false), value.Int(1), value.Int(-7), value.Float(1.5), value.Float(1),
		value.String(""), value.String("a"), value.String("1"), value.String("ab"))
}

// TestValues evaluates expressions about values as they are, and about the maps and slices that the library adapts. Outcomes and costs must
// be equal.
func TestValues(t *testing.T) {
	env, err := cel.Environment().Env(environment.StoredExpressions)
	if err == nil {
		env, err = env.Extend(celgo.Variable("object", celgo.DynType))
	}
	if err != nil {
		t.Fatal(err)
	}
	var programs []celgo.Program
	for _, expression := range aboutValues {
		ast, issues := env.Compile(expression)
		if issues.Err() != nil {
			t.Fatalf("%s: %v", expression, issues.Err())
		}
		program, err := env.Program(ast, celgo.EvalOptions(celgo.OptOptimize, celgo.OptTrackCost))
		if err != nil {
			t.Fatal(err)
		}
		programs = append(programs, program)
	}
	seed := seeds.First(t)
	for i := range 500 {
		v := document(gen.Seeded(seed<<32+uint64(i)), 4)
		if c := gen.Seeded(seed<<32 + uint64(i)); v.Kind() != value.KindObject {
			v = value.Object().With("a", v).With("b", document(c, 3))
		}
		for j, program := range programs {
			got, want := outcome(program, cel.NewValue(v)), outcome(program, v.ToAny())
			if got != want {
				t.Fatalf("object = %v: %s is\n%+v, want\n%+v", v, aboutValues[j], got, want)
			}
		}
	}
}

// result is the outcome of an expression.
type result struct {
	text, err string
	cost      uint64
}

func outcome(program celgo.Program, object any) result {
	v, details, err := program.Eval(map[string]any{"object": object})
	if err == nil && types.IsError(v) {
		err = v.(*types.Err)
	}
	if err != nil {
		return result{err: unordered(err.Error())}
	}
	native, err := v.ConvertToNative(types.JSONValueType)
	return result{text: fmt.Sprint(v.Type(), native, err), cost: *details.ActualCost()}
}

// unordered returns the characters of an error in order: the library prints the members of a map in any order.
func unordered(text string) string {
	characters := []byte(text)
	slices.Sort(characters)
	return string(characters)
}
