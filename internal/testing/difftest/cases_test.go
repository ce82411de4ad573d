package difftest

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	smdpath "sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	smdschema "sigs.k8s.io/structured-merge-diff/v4/schema"
	smdtyped "sigs.k8s.io/structured-merge-diff/v4/typed"
	smdvalue "sigs.k8s.io/structured-merge-diff/v4/value"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// divergenceCases are the differences between functions. Each returns deed's answer and the reference's, and runs until it has seen all
// answers of the reference.
var divergenceCases = []struct {
	name       string
	deed       string
	references []string // the possible answers, each of which must occur
	run        func(*testing.T) (deed, reference string)
}{
	{"swallowed-errors", "error", []string{`{"l":[{"k":"a","n":1}]}`}, swallowedErrors},
	{"number-above-2-53-in-a-set", `{"v:9007199254740993":{}}`, []string{`{"v:9007199254740992":{}}`}, bigNumberInSet},
	{"numbers-above-2-53-in-sets", `{"v:9007199254740992":{},"v:9007199254740993":{}}`, []string{`{"v:9007199254740992":{}}`}, bigNumbersInSets},
	{"numbers-above-2-53-changed", "modified", []string{"same"}, bigNumberChanged},
	{"name-twice", "rejected", []string{`{"a":2}`}, nameTwice},
	{"member-names-that-are-no-strings", "rejected", []string{"ignored"}, memberNames},
	{"reset-fields-of-one-version", "ok", []string{"panic"}, resetFieldsOfOneVersion},
	{"unresolvable-type-in-place", "error", []string{"panic"}, unresolvableType},
	{"uint64", "1", []string{"panic"}, unsignedNumbers},
	{"order-of-conflicts", "m1 m2", []string{"m1 m2", "m2 m1"}, orderOfConflicts},
	{"versions-in-pruning", `[1,"y"]`, []string{`[1,"y"]`, `["y"]`}, versionsInPruning},
	{"validation-errors", "2 errors", []string{"1 error: .x", "1 error: .y"}, validationErrors},
	{"validation-errors-beside-others", "2 errors", []string{"1 error: .x", "2 errors"}, validationErrorsBeside},
	{"objects-as-keys-in-messages", "[k=a=1b=2]", []string{"[k=a=1b=2]", "[k=b=2a=1]"}, objectsAsKeys},
	{"struct-values-in-messages", "one text", []string{"two texts"}, structValues},
	{"negative-zero", "v:0", []string{"v:0", "v:-0"}, inTurn(negativeZero)},
	{"not-a-number", "rejected", []string{"finds 1 of 2", "finds 2 of 2"}, inTurn(notANumber)},
}

// inTurn returns a case of a reference whose answer depends on the order of its inputs. turn selects the order.
func inTurn(run func(t *testing.T, turn int) (deed, reference string)) func(*testing.T) (deed, reference string) {
	turn := -1
	return func(t *testing.T) (deed, reference string) {
		turn++
		return run(t, turn)
	}
}

// patience is the number of runs in which each answer of a reference must occur. An answer that depends on the order of a map comes in at
// least one of eight runs.
const patience = 20_000

// TestDivergences fails if deed or the reference gives another answer than recorded. A difference that is gone must be removed from the
// list.
func TestDivergences(t *testing.T) {
	for _, c := range divergenceCases {
		t.Run(c.name, func(t *testing.T) {
			seen := map[string]bool{}
			for turn := 0; turn < 200 || turn < patience && len(seen) < len(c.references); turn++ {
				deed, reference := c.run(t)
				if deed != c.deed {
					t.Fatalf("deed answers %q, want %q", deed, c.deed)
				}
				seen[reference] = true
			}
			for _, reference := range c.references {
				if !seen[reference] {
					t.Errorf("the reference never answers %q, but %v", reference, seen)
				}
			}
			if len(seen) != len(c.references) {
				t.Errorf("the reference answers %v, want %q", seen, c.references)
			}
		})
	}
}

// TestDivergencesAreListed checks that docs/reference-faults.md names every case and every script, and nothing else.
func TestDivergencesAreListed(t *testing.T) {
	text, err := os.ReadFile("../../../docs/reference-faults.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(line, "|"); len(cells) > 2 && strings.Contains(cells[1], "`") {
			listed[strings.Trim(cells[1], " `")] = true
		}
	}
	var names []string
	for _, pattern := range []string{filepath.Join(scripts, "divergence_*.txtar"), "../../../oracle/histories/testdata/divergence/*.txtar"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			names = append(names, strings.TrimSuffix(filepath.Base(file), ".txtar"))
		}
	}
	for _, golden := range []string{"kind-twice", "problems-v3", "problem-v2-crash"} { // see oracle/openapi
		if _, err := os.Stat(filepath.Join("../../../schema/openapi/testdata", golden+".txtar")); err != nil {
			t.Error(err)
		}
		names = append(names, golden)
	}
	names = append(names, "structs-unlike-json") // see oracle/extras
	for _, c := range divergenceCases {
		names = append(names, c.name)
	}
	for _, name := range names {
		if !listed[name] {
			t.Errorf("docs/reference-faults.md does not list %s", name)
		}
		delete(listed, name)
	}
	for name := range listed {
		t.Errorf("docs/reference-faults.md lists %s, which no test shows", name)
	}
}

// panics returns "panic" if f panics, and otherwise the result of f.
func panics(f func() string) (out string) {
	defer func() {
		if recover() != nil {
			out = "panic"
		}
	}()
	return f()
}

// both returns the type named root of a schema in both engines.
func both(t *testing.T, document string) (*schema.Type, smdtyped.ParseableType) {
	t.Helper()
	v, err := value.Parse([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	d, err := schema.ParseDocument(v)
	if err != nil {
		t.Fatal(err)
	}
	compiled, _ := schema.Compile(d) // some cases are about defects of schemas
	root := compiled["root"]
	parser := &smdtyped.Parser{Schema: smdschema.Schema{Types: smdTypes(d)}}
	return root, parser.Type("root")
}

// swallowedErrors: a configuration repeats an item of a list within an item of a list.
func swallowedErrors(t *testing.T) (string, string) {
	root, smd := both(t, `{"types":[{"name":"root","map":{"fields":[{"name":"l","type":{"list":{
		"elementRelationship":"associative","keys":["k"],"elementType":{"map":{"fields":[
			{"name":"k","type":{"scalar":"string"}},{"name":"n","type":{"scalar":"numeric"}},
			{"name":"s","type":{"list":{"elementRelationship":"associative","elementType":{"scalar":"string"}}}}]}}}}}]}}]}`)
	live, config := parsed(`{"l":[{"k":"a","s":["x"]}]}`), parsed(`{"l":[{"k":"a","n":1,"s":["y","y"]}]}`)
	answer := "no error"
	if _, err := typed.Merge(accepted(t, live, root), accepted(t, config, root)); err != nil {
		answer = "error"
	}
	out, err := smdAccepted(t, live, smd).Merge(smdAccepted(t, config, smd))
	if err != nil {
		return answer, "error"
	}
	return answer, contentOf(out).String()
}

// parsed parses a document of a test.
func parsed(text string) value.Value {
	v, err := value.Parse([]byte(text))
	if err != nil {
		panic(err)
	}
	return v
}

func accepted(t *testing.T, v value.Value, root *schema.Type) typed.Value {
	t.Helper()
	out, err := typed.New(v, root, typed.AllowDuplicates)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func smdAccepted(t *testing.T, v value.Value, root smdtyped.ParseableType) *smdtyped.TypedValue {
	t.Helper()
	out, err := root.FromUnstructured(v.ToAny(), smdtyped.AllowDuplicates)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// bigNumberInSet: a set has an integer that no float64 equals.
func bigNumberInSet(t *testing.T) (string, string) {
	return readAndWritten(t, `{"v:9007199254740993":{}}`)
}

// bigNumbersInSets: a set has two integers with the same float64.
func bigNumbersInSets(t *testing.T) (string, string) {
	return readAndWritten(t, `{"v:9007199254740992":{},"v:9007199254740993":{}}`)
}

// readAndWritten returns a set as both engines write it after reading it.
func readAndWritten(t *testing.T, text string) (string, string) {
	set, err := fieldpath.ParseSet([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	smd := smdpath.NewSet()
	if err := smd.FromJSON(bytes.NewReader([]byte(text))); err != nil {
		t.Fatal(err)
	}
	return string(set.AppendJSON(nil)), wire(smd)
}

// bigNumberChanged: an integer becomes an adjacent float.
func bigNumberChanged(t *testing.T) (string, string) {
	root, smd := both(t, `{"types":[{"name":"root","map":{"fields":[{"name":"n","type":{"scalar":"numeric"}}]}}]}`)
	old := value.Object(value.Member{Name: "n", Value: value.Int(1<<53 + 1)})
	new := value.Object(value.Member{Name: "n", Value: value.Float(1 << 53)})
	word := map[bool]string{true: "same", false: "modified"}
	diff, err := typed.Compare(accepted(t, old, root), accepted(t, new, root))
	if err != nil {
		t.Fatal(err)
	}
	smdDiff, err := smdAccepted(t, old, smd).Compare(smdAccepted(t, new, smd))
	if err != nil {
		t.Fatal(err)
	}
	return word[typing.IsEmpty(diff)], word[smdDiff.IsSame()]
}

func smdItem(v any) smdpath.PathElement {
	item := smdvalue.NewValueInterface(v)
	return smdpath.PathElement{Value: &item}
}

// negativeZero: two sets have the same path, in one of them from -0. turn is the order of their union.
func negativeZero(_ *testing.T, turn int) (string, string) {
	zeros := []float64{0, math.Copysign(0, -1)}
	if turn%2 == 1 {
		slices.Reverse(zeros)
	}
	var sets [2]fieldpath.Set
	var smdSets [2]*smdpath.Set
	for i, zero := range zeros {
		sets[i] = fieldpath.SetOf(fieldpath.Path{fieldpath.Item(value.Float(zero))})
		smdSets[i] = smdpath.NewSet(smdpath.Path{smdItem(zero)})
	}
	text := func(set []byte) string { return strings.TrimSuffix(strings.TrimPrefix(string(set), `{"`), `":{}}`) }
	return text(sets[0].Union(sets[1]).AppendJSON(nil)), text([]byte(wire(smdSets[0].Union(smdSets[1]))))
}

// nameTwice: a JSON object has a duplicate name.
func nameTwice(t *testing.T) (string, string) {
	text := []byte(`{"a":1,"a":2}`)
	answer := "accepted"
	if _, err := value.Parse(text); err != nil {
		answer = "rejected"
	}
	v, err := smdvalue.FromJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	out, err := smdvalue.ToJSON(v)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(out)
}

// objectsAsKeys: the text of a key whose value is an object.
func objectsAsKeys(*testing.T) (string, string) {
	v := parsed(`{"a":1,"b":2}`)
	smd := smdpath.KeyByFields("k", v.ToAny())
	return fieldpath.Key(fieldpath.KeyField{Name: "k", Value: v}).String(), smdpath.PathElement{Key: smd}.String()
}

// unresolvableType: an inlined scalar has a relationship, and an object is compared without validation.
func unresolvableType(t *testing.T) (string, string) {
	root, smd := both(t, `{"types":[{"name":"root","map":{"fields":[{"name":"a","type":{"scalar":"string","elementRelationship":"atomic"}}]}}]}`)
	v := parsed(`{"a":"x"}`)
	answer := "ok"
	if _, err := typed.New(v, root); err != nil {
		answer = "error"
	}
	return answer, panics(func() string {
		//lint:ignore SA1019 the reference does so inside, and that is the case
		smdValue := smdtyped.AsTypedUnvalidated(smdvalue.NewValueInterface(v.ToAny()), smd.Schema, smd.TypeRef)
		if _, err := smdValue.Compare(smdValue); err != nil {
			return "error"
		}
		return "ok"
	})
}

// validationErrors: an object has two undeclared members.
func validationErrors(t *testing.T) (string, string) {
	root, smd := both(t, `{"types":[{"name":"root","map":{"fields":[{"name":"a","type":{"scalar":"string"}}]}}]}`)
	v := parsed(`{"x":1,"y":2}`)
	_, err := typed.New(v, root)
	errs, _ := err.(typed.Errors)
	_, smdErr := smd.FromUnstructured(v.ToAny())
	smdErrs, _ := smdErr.(smdtyped.ValidationErrors)
	if len(smdErrs) == 0 {
		t.Fatalf("the reference answers %v", smdErr)
	}
	return fmt.Sprintf("%d errors", len(errs)), fmt.Sprintf("%d error: %s", len(smdErrs), smdErrs[0].Path)
}

// validationErrorsBeside: an object has an undeclared member, and another member of the wrong kind.
func validationErrorsBeside(t *testing.T) (string, string) {
	root, smd := both(t, `{"types":[{"name":"root","map":{"fields":[{"name":"a","type":{"scalar":"string"}}]}}]}`)
	v := parsed(`{"a":1,"x":2}`)
	_, err := typed.New(v, root)
	errs, _ := err.(typed.Errors)
	_, smdErr := smd.FromUnstructured(v.ToAny())
	smdErrs, _ := smdErr.(smdtyped.ValidationErrors)
	answer := fmt.Sprintf("%d errors", len(smdErrs))
	if len(smdErrs) == 1 {
		answer = "1 error: " + smdErrs[0].Path
	}
	return fmt.Sprintf("%d errors", len(errs)), answer
}

// notANumber: a path of a set contains NaN. The reference's search takes NaN for equal to every number.
func notANumber(t *testing.T, turn int) (string, string) {
	_, smd := both(t, `{"types":[{"name":"root","map":{"elementType":{"scalar":"numeric"}}}]}`)
	nan := map[string]any{"a": math.NaN()}
	answer := "accepted"
	if _, err := value.FromAny(nan); err != nil {
		answer = "rejected"
	}
	v, err := smd.FromUnstructured(nan)
	if err != nil {
		t.Fatal(err)
	}
	if d, err := v.Compare(v); err != nil || d.IsSame() {
		t.Fatalf("the reference finds NaN equal to itself, or answers %v", err)
	}
	set, found := smdpath.NewSet(), 0
	paths := []any{math.NaN(), 1.0, 2.0}
	for i := range paths {
		set.Insert(smdpath.Path{smdItem(paths[(turn+i)%len(paths)])})
	}
	for _, number := range paths[1:] {
		if set.Has(smdpath.Path{smdItem(number)}) {
			found++
		}
	}
	return answer, fmt.Sprintf("finds %d of 2", found)
}

// structValues: a value of a Go struct has the wrong kind. Two structs with equal values have different addresses.
func structValues(t *testing.T) (string, string) {
	root, smd := both(t, `{"types":[{"name":"root","map":{"elementType":{"map":{"elementType":{"scalar":"string"}}}}}]}`)
	texts, smdTexts := map[string]bool{}, map[string]bool{}
	var objects [2]struct {
		M map[string]int `json:"m"`
	}
	for i := range objects {
		object := &objects[i]
		object.M = map[string]int{"a": 1}
		v, err := structs.From(object)
		if err != nil {
			t.Fatal(err)
		}
		_, err = typed.New(v, root)
		_, smdErr := smd.FromStructured(object)
		if err == nil || smdErr == nil {
			t.Fatalf("no errors: %v, %v", err, smdErr)
		}
		texts[err.Error()], smdTexts[smdErr.Error()] = true, true
	}
	runtime.KeepAlive(&objects)
	word := map[int]string{1: "one text", 2: "two texts"}
	return word[len(texts)], word[len(smdTexts)]
}

// memberNames: YAML has member names that are not strings.
func memberNames(t *testing.T) (string, string) {
	_, smd := both(t, `{"types":[{"name":"root","map":{"elementType":{"scalar":"numeric"}}}]}`)
	object := map[any]any{1: "no number", "a": 1}
	answer := "accepted"
	if _, err := value.FromAny(object); err != nil {
		answer = "rejected"
	}
	if _, err := smd.FromUnstructured(object); err != nil {
		return answer, "rejected"
	}
	return answer, "ignored"
}

// unsignedNumbers: a Go struct has a uint64. Both engines reject it in unstructured objects.
func unsignedNumbers(t *testing.T) (string, string) {
	root, smd := both(t, `{"types":[{"name":"root","map":{"elementType":{"scalar":"numeric"}}}]}`)
	if _, err := value.FromAny(map[string]any{"a": uint64(1)}); err == nil {
		t.Fatal("deed accepts a uint64 in an unstructured object")
	}
	if _, err := smd.FromUnstructured(map[string]any{"a": uint64(1)}); err == nil {
		t.Fatal("the reference accepts a uint64 in an unstructured object")
	}
	object := struct {
		A uint64 `json:"a"`
	}{1}
	v, err := structs.From(&object)
	if err != nil {
		t.Fatal(err)
	}
	return accepted(t, v, root).Content().Get("a").String(), panics(func() string {
		if _, err := smd.FromStructured(&object); err != nil {
			return "rejected"
		}
		return "accepted"
	})
}
