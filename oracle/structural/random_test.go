package structural_test

import (
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/deed-project/deed/internal/testing/gen"
	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/schema/structural"
	"github.com/deed-project/deed/value"
)

// TestRandom compares every step on random objects of random schemas. DEED_CASES sets the number of cases, DEED_SEED their seed.
func TestRandom(t *testing.T) {
	cases, seed := number(t, "DEED_CASES", 5000), seeds.First(t)
	seen := map[string]int{}
	for i := range cases {
		if t.Failed() {
			return
		}
		c := gen.Seeded(seed + uint64(i/10))
		schema, err := value.Parse(randomSchema(c).AppendJSON(nil)) // parsed from text, as the reference does
		if err != nil {
			t.Fatal(err)
		}
		c = gen.Seeded(seed<<32 + uint64(i))
		compare(t, schema, randomObject(c, schema), seen)
	}
	t.Logf("%d cases, steps with an effect: %v", cases, seen)
	for _, name := range stepNames {
		if seen[name] < cases/100 {
			t.Errorf("the step %q had an effect in only %d cases", name, seen[name])
		}
	}
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

var stepNames = []string{"prune", "nulls", "default", "duplicates", "coerce", "decode", "load"}

func compare(t *testing.T, schema, object value.Value, seen map[string]int) {
	t.Helper()
	s, err := structural.Compile(schema)
	if err != nil {
		t.Fatalf("%v\n%v", err, schema)
	}
	ref := compiled(t, schema)
	fresh := func() map[string]any { return object.ToAny().(map[string]any) }
	check := func(name string, ask func(object map[string]any) answer, got answer) {
		want := ask(fresh())
		for range 10_000 { // the reference reports one of several errors, in map order, and one may be rare
			if want.err == got.err || want.err == "" || got.err == "" {
				break
			}
			want = ask(fresh())
		}
		if got.err != "" || len(got.said) > 0 || !got.object.IsAbsent() && !identical(got.object, object) {
			seen[name]++
		}
		if !want.equal(got) {
			t.Errorf("%s\nschema %v\nobject %v\nwant %v\ngot %v", name, schema, object, want, got)
		}
		if got.err == "" && identical(got.object, object) && !got.object.Same(object) && name != "duplicates" {
			t.Errorf("%s\nschema %v\nobject %v\nmakes an equal object that is not the same", name, schema, object)
		}
	}
	pruned, unknown := s.Prune(object)
	check("prune", ref.prune, answer{object: pruned, said: unknown})
	check("nulls", ref.dropNulls, answer{object: s.DropNulls(object)})
	filled := s.Default(object)
	check("default", ref.fillDefaults, answer{object: filled})
	if !s.Default(filled).Same(filled) {
		t.Errorf("defaults again\nschema %v\nobject %v\n", schema, object)
	}
	var said []string
	for _, err := range s.Duplicates(object) {
		said = append(said, err.Error())
	}
	slices.Sort(said)
	check("duplicates", ref.duplicates, answer{said: said})
	coerced, unknown, err := s.Coerce(object)
	check("coerce", ref.coerce, outcome(coerced, unknown, err))
	decoded, unknown, err := s.Decode(object)
	check("decode", ref.decode, outcome(decoded, unknown, err))
	loaded, err := s.Load(object)
	check("load", ref.load, outcome(loaded, nil, err))
}

func outcome(object value.Value, said []string, err error) answer {
	if err != nil {
		return answer{err: err.Error()}
	}
	return answer{object: object, said: said}
}
