package model_test

import (
	"testing"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/testing/gen"
	"github.com/deed-project/deed/internal/testing/model"
	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
)

// TestSetsAreModel compares the operations of fieldpath sets with those of maps of paths.
func TestSetsAreModel(t *testing.T) {
	for seed := range seeds.Each(t, 1000) {
		c := gen.Seeded(seed)
		s := gen.NewSchema(c)
		compiled, err := schema.Compile(s.Document)
		if err != nil {
			t.Fatal(err)
		}
		root := compiled[s.Versions[0].Root]
		values := gen.Values{Choices: c, Depth: 4}
		v, err := typed.New(values.Of(root), root)
		if err != nil {
			t.Fatal(err)
		}
		a, b := gen.Subset(c, v.Fields()), gen.Subset(c, v.Fields())
		x, y := model.SetOf(a), model.SetOf(b)
		for _, pair := range []struct {
			operation string
			got       fieldpath.Set
			want      model.Set
		}{
			{"union", a.Union(b), x.Union(y)},
			{"intersect", a.Intersect(b), x.Intersect(y)},
			{"minus", a.Minus(b), x.Minus(y)},
			{"without", a.Without(b), x.Without(y)},
			{"leaves", a.Leaves(), x.Leaves()},
		} {
			if !pair.got.Equal(pair.want.Fields()) || pair.got.Len() != len(pair.want) {
				t.Fatalf("seed %d: %s of\n%s\nand\n%s\nis\n%s\nwant\n%s",
					seed, pair.operation, a, b, pair.got, pair.want.Fields())
			}
		}
	}
}
