package rules

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/internal/testing/gen"
	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/schema/structural"
	"github.com/deed-project/deed/value"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/warning"
)

var sharing = door.Open(value.Internal{})

// TestVerdicts compares the verdicts on random objects with the errors of the library. A good object must have no errors, and a bad object
// must have some if it replaces nothing. DEED_CASES sets the number of cases, DEED_SEED their seed.
func TestVerdicts(t *testing.T) {
	cases, seed := number(t, "DEED_CASES", 3000), seeds.First(t)
	counts := map[verdict]int{}
	said := map[bool]int{} // counts by whether rules found an error
	updates, checked, orders := 0, 0, 0
	for i := range cases {
		c := gen.Seeded(seed<<32 + uint64(i/20))
		schema := objectSchema(c, 3)
		r, err := Compile(reread(t, schema))
		if err != nil {
			t.Fatalf("%v\n%v", err, schema)
		}
		pruning, err := structural.Compile(schema)
		if err != nil {
			t.Fatal(err)
		}
		c = gen.Seeded(seed<<32 + 1<<31 + uint64(i))
		object, live := randomWrite(c, schema, pruning)
		if !live.IsAbsent() {
			updates++
		}
		found := new(judging).judge(r.object.quick, object, value.Value{})
		counts[found]++
		if shared := sharing.Share(object, live); r.Sound(t.Context(), live, value.Value{}) && r.Sound(t.Context(), shared, live) != (found == good) {
			t.Fatalf("beside live, the verdict is not %d\nschema %v\nobject %v\nlive %v", found, schema, object, live)
		}
		errs := library(r, object, live)
		if found == good && len(errs) > 0 || found == bad && live.IsAbsent() && len(errs) == 0 {
			t.Fatalf("the verdict is %d\nschema %v\nobject %v\nlive %v\nlibrary %v", found, schema, object, live, errs)
		}
		if want, got := sorted(errs, nil), sorted(r.Values(t.Context(), object, live), nil); got != want {
			t.Fatalf("the faults are\n%s\nschema %v\nobject %v\nlive %v\nlibrary\n%s", got, schema, object, live, want)
		}
		if n := len(errs); n > 1 && n < 5 && !r.object.quick.below.shuffled {
			orders++
			requireOrder(t, r.Values(t.Context(), object, live), func() field.ErrorList { return library(r, object, live) })
		}
		if len(errs) > 0 || r.compiled == nil {
			continue
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
			requireOrder(t, r.CEL(t.Context(), nil, object, live, nil), func() field.ErrorList { return libraryCEL(t.Context(), r, object, live) })
		}
		said[want != ""]++
		if _, ok := r.checker(); ok && want == "" {
			checked++
		}
	}
	t.Logf("%d cases, %d updates: %d good, %d bad, %d unsure; rules found something in %d, and nothing in %d, %d of these without the library; orders of %d",
		cases, updates, counts[good], counts[bad], counts[unsure], said[true], said[false], checked, orders)
	if checked < cases/50 || said[true] < cases/100 || said[false] < cases/100 || counts[good] < cases/10 ||
		counts[bad] < cases/10 || counts[unsure] > cases/4 || updates < cases/4 || orders < cases/50 {
		t.Error("the cases are one-sided")
	}
}

// TestItemsWithEqualKeys checks errors in an unchanged list with two items of equal keys, which a definition of another type let in. The library
// pairs both with the first of the old ones. An error of a value that its alternatives have, too, is told once.
func TestItemsWithEqualKeys(t *testing.T) {
	item := `{"type":"object","properties":{"k":{"type":"string"},"v":{"type":"string","maxLength":1}},"anyOf":[{"properties":{"v":{"maxLength":1}}}]}`
	schema, err := value.Parse([]byte(`{"type":"object","properties":{"l":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":` + item + `}}}`))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Compile(schema)
	if err != nil {
		t.Fatal(err)
	}
	object, err := value.Parse([]byte(`{"l":[{"k":"a","v":"long"},{"k":"a","v":"longer"},{"k":"b","v":"x"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want, got := sorted(library(r, object, object), nil), sorted(r.Values(t.Context(), object, object), nil)
	if got != want || !strings.Contains(got, "l[1].v") || strings.Contains(got, "l[0].v") {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// requireOrder fails the test if errors are in an order in which the library never has them. The library's own order is random.
func requireOrder(t *testing.T, errs field.ErrorList, library func() field.ErrorList) {
	t.Helper()
	got, seen := lines(errs), map[string]bool{}
	// A range over a map begins at one of eight places, often at an empty one. So of two members, the second comes first once in eight times, and of
	// four errors in maps within maps, the rarest order comes once in 512 times.
	for range 100_000 {
		order := lines(library())
		if order == got {
			return
		}
		seen[order] = true
	}
	t.Fatalf("the library never has the order\n%s\nbut\n%s", got, strings.Join(slices.Sorted(maps.Keys(seen)), "\n\n"))
}

// lines returns the texts of errors in their order.
func lines(errs field.ErrorList) string {
	var b strings.Builder
	for _, err := range errs {
		fmt.Fprintln(&b, err)
	}
	return b.String()
}

// library returns the errors of the library for a whole object.
func library(r *Rules, object, live value.Value) field.ErrorList {
	validator := validation.NewSchemaValidatorFromOpenAPI(r.object.schema)
	if live.IsAbsent() {
		return validation.ValidateCustomResource(nil, object.ToAny(), validator)
	}
	return validation.ValidateCustomResourceUpdate(nil, object.ToAny(), live.ToAny(), validator,
		validation.WithRatcheting(r.correlated(object, live)))
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
	return sorted(errs, warnings)
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
	return sorted(r.CEL(t.Context(), nil, object, live, &warnings), warnings)
}

// sparedCEL is partialCEL with a proof that all rules hold for live, if they do.
func sparedCEL(t *testing.T, r *Rules, object, live value.Value) string {
	_, proved := r.CELChange(t.Context(), nil, live, value.Value{}, nil, 0)
	var warnings heard
	errs, _ := r.CELChange(t.Context(), nil, object, live, &warnings, proved)
	return sorted(errs, warnings)
}

func sorted(errs field.ErrorList, lines []string) string {
	for _, err := range errs {
		lines = append(lines, err.Error())
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func number(t *testing.T, variable string, otherwise int) int {
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

// reread returns a schema as it decodes from text, where whole numbers are integers.
func reread(t *testing.T, v value.Value) value.Value {
	out, err := value.Parse(v.AppendJSON(nil))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// randomWrite returns an object and, in most cases, a live one that it replaces and shares parts with.
func randomWrite(c *gen.Choices, schema value.Value, pruning *structural.Schema) (object, live value.Value) {
	make := func() value.Value {
		out, _ := pruning.Prune(follow(c, schema, 4))
		if out.Kind() != value.KindObject {
			out = value.Object()
		}
		return out.With("kind", value.String("K")).With("metadata", value.Object(value.Member{Name: "name", Value: value.Int(1)}))
	}
	object = make()
	if c.Chance(35) {
		return object, value.Value{}
	}
	live = make()
	return change(c, live, object, 3), live
}

// change returns live with some parts replaced by those of object.
func change(c *gen.Choices, live, object value.Value, depth int) value.Value {
	if live.Kind() != value.KindObject || object.Kind() != value.KindObject || depth == 0 {
		return object
	}
	for i := range object.Len() {
		if m := object.Member(i); c.Chance(30) {
			live = live.With(m.Name, change(c, live.Get(m.Name), m.Value, depth-1))
		}
	}
	return live
}
