package gen_test

import (
	"fmt"
	"testing"

	"github.com/deed-project/deed/internal/testing/gen"
	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// history makes a history whose object is always the one that was written last.
func history(t *testing.T, c *gen.Choices) *gen.History {
	t.Helper()
	h := &gen.History{Schema: gen.NewSchema(c)}
	compiled, err := schema.Compile(h.Schema.Document)
	if err != nil {
		t.Fatalf("%v\n%v", err, h.Schema.Document.Value())
	}
	types := map[string]*schema.Type{}
	for _, v := range h.Schema.Versions {
		types[v.Name] = compiled[v.Root]
	}
	writer := gen.NewWriter(c, h.Schema, types)
	h.Filters = writer.Filters()
	live, at := value.Null(), h.Schema.Versions[0].Name
	for range 8 {
		w := writer.Next(live, at)
		h.Writes = append(h.Writes, w)
		live, at = w.Object, w.Version
	}
	return h
}

// TestSeedsDecideEverything checks that a seed always gives the same outcome, whatever the order of maps.
func TestSeedsDecideEverything(t *testing.T) {
	show := func(h *gen.History) string {
		return fmt.Sprint(h.Schema.Document.Value(), h.Schema.Versions, h.Schema.Renames, h.Filters, h.Writes)
	}
	seen := map[string]bool{}
	for seed := range seeds.Each(t, 50) {
		first := show(history(t, gen.Seeded(seed)))
		if again := show(history(t, gen.Seeded(seed))); first != again {
			t.Fatalf("seed %d makes\n%s\nand then\n%s", seed, first, again)
		}
		seen[first] = true
	}
	if len(seen) != 50 {
		t.Errorf("50 seeds make only %d histories", len(seen))
	}
	history(t, gen.FromBytes(nil)) // it must end, too
}

// TestValuesConform checks that values conform to their type, and that Distinct removes their duplicates.
func TestValuesConform(t *testing.T) {
	for seed := range seeds.Each(t, 500) {
		c := gen.Seeded(seed)
		s := gen.NewSchema(c)
		compiled, err := schema.Compile(s.Document)
		if err != nil {
			t.Fatal(err)
		}
		root := compiled["root"]
		values := gen.Values{Choices: c, Depth: 4, Duplicates: c.Chance(50), PartialKeys: c.Chance(50)}
		v := values.Of(root)
		for _, v := range []value.Value{v, values.Mutate(v, root), values.Part(v, root)} {
			if _, err := typed.New(v, root, typed.AllowDuplicates); err != nil {
				t.Fatalf("seed %d: %v\n%v\n%v", seed, err, v, s.Document.Value())
			}
			if _, err := typed.New(gen.Distinct(v, root), root); err != nil {
				t.Fatalf("seed %d, distinct: %v\n%v\n%v", seed, err, v, s.Document.Value())
			}
		}
	}
}

// TestShrink checks that Shrink keeps what makes a history fail, and nothing else.
func TestShrink(t *testing.T) {
	about := func(h *gen.History) bool {
		for _, w := range h.Writes {
			if w.Operation == merge.Apply && w.Object.Len() > 0 {
				return true
			}
		}
		return false
	}
	shrunk := 0
	for seed := range seeds.Each(t, 20) {
		h := history(t, gen.Seeded(seed))
		if !about(h) {
			continue
		}
		shrunk++
		small := gen.Shrink(h, about)
		if len(small.Writes) != 1 || small.Writes[0].Object.Len() != 1 || len(small.Schema.Document.Types) != 0 {
			t.Errorf("seed %d: left are %v and %v", seed, small.Writes, small.Schema.Document.Value())
		}
	}
	if shrunk < 10 {
		t.Errorf("only %d histories were of use", shrunk)
	}
}
