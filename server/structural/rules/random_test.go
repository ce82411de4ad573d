package rules

import (
	"context"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/testing/gen"
	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/schema/structural"
	"github.com/deed-project/deed/value"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/warning"

	"github.com/deed-project/deed/server/structural/schematest"
)

// TestRules compares the errors of CEL rules on random objects without other errors with those of the library. DEED_CASES sets the number of
// cases, DEED_SEED their seed.
func TestRules(t *testing.T) {
	cases, seed := schematest.Number(t, "DEED_CASES", 10_000), seeds.First(t)
	said := map[bool]int{} // counts by whether rules found an error
	updates, checked, orders := 0, 0, 0
	for i := range cases {
		c := gen.Seeded(seed<<32 + uint64(i/20))
		schema := schematest.Object(c, 3)
		r, err := Compile(schematest.Reread(t, schema))
		if err != nil {
			t.Fatalf("%v\n%v", err, schema)
		}
		pruning, err := structural.Compile(schema)
		if err != nil {
			t.Fatal(err)
		}
		c = gen.Seeded(seed<<32 + 1<<31 + uint64(i))
		object, live := schematest.Write(c, schema, pruning)
		if r.compiled == nil || len(r.Values(t.Context(), object, live)) > 0 {
			continue
		}
		if !live.IsAbsent() {
			updates++
		}
		want, got := wholeCEL(t, r, object, live), partialCEL(t, r, object, live)
		if want != got {
			t.Fatalf("rules say\n%s\nschema %v\nobject %v\nlive %v\nlibrary\n%s", got, schema, object, live, want)
		}
		if spared := sparedCEL(t, r, object, live); spared != want {
			t.Fatalf("rules that are evaluated about changes only say\n%s\nschema %v\nobject %v\nlive %v\nlibrary\n%s", spared, schema, object, live, want)
		}
		if n := strings.Count(want, "\n"); n > 0 && n < 4 {
			orders++
			schematest.RequireOrder(t, r.CEL(t.Context(), nil, object, live, nil), func() field.ErrorList { return libraryCEL(t.Context(), r, object, live) })
		}
		said[want != ""]++
		if _, ok := r.checker(); ok && want == "" {
			checked++
		}
	}
	t.Logf("%d cases, %d updates: rules found something in %d, and nothing in %d, %d of these without the library; orders of %d",
		cases, updates, said[true], said[false], checked, orders)
	if checked < cases/200 || said[true] < cases/200 || said[false] < cases/50 || updates < cases/50 || orders < cases/2000 {
		t.Error("the cases are one-sided")
	}
}

// correlated pairs the parts of object with the parts of live that they replace.
func (r *Rules) correlated(object, live value.Value) *common.CorrelatedObject {
	return common.NewCorrelatedObject(object.ToAny(), live.ToAny(), &model.Structural{Structural: r.schema})
}

// heard collects warnings.
type heard []string

func (h *heard) AddWarning(_, text string) { *h = append(*h, "warning: "+text) }

// wholeCEL passes whole objects to the library, as kube-apiserver does, and returns the outcome.
func wholeCEL(t *testing.T, r *Rules, object, live value.Value) string {
	var warnings heard
	errs := libraryCEL(warning.WithWarningRecorder(t.Context(), &warnings), r, object, live)
	return schematest.Sorted(errs, warnings)
}

// libraryCEL returns the errors of CEL rules that the library finds in whole objects.
func libraryCEL(ctx context.Context, r *Rules, object, live value.Value) field.ErrorList {
	var old any
	var options []cel.Option
	if !live.IsAbsent() {
		old = live.ToAny()
		options = append(options, cel.WithRatcheting(r.correlated(object, live)))
	}
	errs, _ := r.compiled().Validate(ctx, nil, r.schema, object.ToAny(), old, celconfig.RuntimeCELCostBudget, options...)
	return errs
}

func partialCEL(t *testing.T, r *Rules, object, live value.Value) string {
	var warnings heard
	return schematest.Sorted(r.CEL(t.Context(), nil, object, live, &warnings), warnings)
}

// sparedCEL is partialCEL with a proof that all rules hold for live, if they do.
func sparedCEL(t *testing.T, r *Rules, object, live value.Value) string {
	_, proved := r.CELChange(t.Context(), nil, live, value.Value{}, nil, 0)
	var warnings heard
	errs, _ := r.CELChange(t.Context(), nil, object, live, &warnings, proved)
	return schematest.Sorted(errs, warnings)
}
