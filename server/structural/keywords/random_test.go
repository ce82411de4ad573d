package keywords

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/internal/testing/gen"
	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/schema/structural"
	"github.com/deed-project/deed/server/structural/schematest"
	"github.com/deed-project/deed/value"
)

// reference is a schema in kube-apiserver's libraries.
type reference struct {
	schema     *spec.Schema
	structural *schema.Structural
}

// refer reads a schema with kube-apiserver's libraries.
func refer(t *testing.T, openAPIV3Schema value.Value) reference {
	t.Helper()
	var v1 apiextensionsv1.JSONSchemaProps
	if err := json.Unmarshal(openAPIV3Schema.AppendJSON(nil), &v1); err != nil {
		t.Fatal(err)
	}
	var props apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&v1, &props, nil); err != nil {
		t.Fatal(err)
	}
	_, converted, err := validation.NewSchemaValidator(&props)
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.NewStructural(&props)
	if err != nil {
		t.Fatal(err)
	}
	return reference{converted, s}
}

// faults returns the errors of the library for a whole object.
func (r reference) faults(object, live value.Value) field.ErrorList {
	validator := validation.NewSchemaValidatorFromOpenAPI(r.schema)
	if live.IsAbsent() {
		return validation.ValidateCustomResource(nil, object.ToAny(), validator)
	}
	pair := common.NewCorrelatedObject(object.ToAny(), live.ToAny(), &model.Structural{Structural: r.structural})
	return validation.ValidateCustomResourceUpdate(nil, object.ToAny(), live.ToAny(), validator, validation.WithRatcheting(pair))
}

var sharing = door.Open(value.Internal{})

// TestVerdicts compares the verdicts on random objects with the errors of the library. A good object must have no errors, and a bad object
// must have some if it replaces nothing. DEED_CASES sets the number of cases, DEED_SEED their seed.
func TestVerdicts(t *testing.T) {
	cases, seed := schematest.Number(t, "DEED_CASES", 3000), seeds.First(t)
	counts := map[verdict]int{}
	updates, orders := 0, 0
	for i := range cases {
		c := gen.Seeded(seed<<32 + uint64(i/20))
		schema := schematest.Object(c, 3)
		s, library := Compile(schematest.Reread(t, schema)), refer(t, schema)
		if same := compile(library.schema); !reflect.DeepEqual(bare(s.root), bare(same)) {
			t.Fatalf("the schema %v is compiled to\n%+v\nand the library's conversion to\n%+v", schema, s.root, same)
		}
		pruning, err := structural.Compile(schema)
		if err != nil {
			t.Fatal(err)
		}
		c = gen.Seeded(seed<<32 + 1<<31 + uint64(i))
		object, live := schematest.Write(c, schema, pruning)
		if !live.IsAbsent() {
			updates++
		}
		found := new(judging).judge(s.root, object, value.Value{})
		counts[found]++
		if shared := sharing.Share(object, live); s.Sound(t.Context(), live, value.Value{}) && s.Sound(t.Context(), shared, live) != (found == good) {
			t.Fatalf("beside live, the verdict is not %d\nschema %v\nobject %v\nlive %v", found, schema, object, live)
		}
		errs := library.faults(object, live)
		if found == good && len(errs) > 0 || found == bad && live.IsAbsent() && len(errs) == 0 {
			t.Fatalf("the verdict is %d\nschema %v\nobject %v\nlive %v\nlibrary %v", found, schema, object, live, errs)
		}
		if want, got := schematest.Sorted(errs, nil), schematest.Sorted(s.Values(t.Context(), object, live), nil); got != want {
			t.Fatalf("the faults are\n%s\nschema %v\nobject %v\nlive %v\nlibrary\n%s", got, schema, object, live, want)
		}
		if n := len(errs); n > 1 && n < 5 && !s.root.below.shuffled {
			orders++
			schematest.RequireOrder(t, s.Values(t.Context(), object, live), func() field.ErrorList { return library.faults(object, live) })
		}
	}
	t.Logf("%d cases, %d updates: %d good, %d bad, %d unsure; orders of %d", cases, updates, counts[good], counts[bad], counts[unsure], orders)
	if counts[good] < cases/10 || counts[bad] < cases/10 || counts[unsure] > cases/4 || updates < cases/4 || orders < cases/50 {
		t.Error("the cases are one-sided")
	}
}

// bare returns a node without its functions, which cannot be compared.
func bare(n *node) *node {
	if n == nil {
		return nil
	}
	out := *n
	if n.text != nil {
		text := *n.text
		text.pattern, out.text = nil, &text
	}
	all := func(nodes []*node) (out []*node) {
		for _, n := range nodes {
			out = append(out, bare(n))
		}
		return out
	}
	if n.properties != nil {
		out.properties = map[string]*node{}
		for name, property := range n.properties {
			out.properties[name] = bare(property)
		}
	}
	out.additional, out.items = bare(n.additional), bare(n.items)
	if n.junctors != nil {
		junctors := *n.junctors
		junctors.all, junctors.any, junctors.one, junctors.not = all(junctors.all), all(junctors.any), all(junctors.one), bare(junctors.not)
		out.junctors = &junctors
	}
	return &out
}

// TestItemsWithEqualKeys checks errors in an unchanged list with two items of equal keys, which a definition of another type let in. The library
// pairs both with the first of the old ones. An error of a value that its alternatives have, too, is told once.
func TestItemsWithEqualKeys(t *testing.T) {
	item := `{"type":"object","properties":{"k":{"type":"string"},"v":{"type":"string","maxLength":1}},"anyOf":[{"properties":{"v":{"maxLength":1}}}]}`
	schema := parse(t, `{"type":"object","properties":{"l":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":`+item+`}}}`)
	s, library := Compile(schema), refer(t, schema)
	object := parse(t, `{"l":[{"k":"a","v":"long"},{"k":"a","v":"longer"},{"k":"b","v":"x"}]}`)
	want, got := schematest.Sorted(library.faults(object, object), nil), schematest.Sorted(s.Values(t.Context(), object, object), nil)
	if got != want || !strings.Contains(got, "l[1].v") || strings.Contains(got, "l[0].v") {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func parse(t testing.TB, text string) value.Value {
	t.Helper()
	v, err := value.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return v
}
