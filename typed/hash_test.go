package typed

import (
	"math"
	"slices"
	"testing"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Equal values have equal hashes, whether numbers are integers or not, in lists and objects too.
func TestEqualValuesHashEqually(t *testing.T) {
	ints := []int64{0, 1, -1, 8, 1 << 53, -1 << 53, 1<<53 + 2, math.MaxInt64, math.MinInt64, math.MinInt64 + 1024}
	var numbers []value.Value
	for _, i := range ints {
		numbers = append(numbers, value.Int(i), value.Float(float64(i)))
	}
	numbers = append(numbers, value.Float(math.Copysign(0, -1)), value.Float(1<<63), value.Float(-1<<63), value.Float(0.5))
	equal := 0
	for i, a := range numbers {
		for _, b := range numbers[i+1:] {
			for _, in := range []func(value.Value) value.Value{
				func(v value.Value) value.Value { return v },
				func(v value.Value) value.Value { return value.List(value.Bool(true), v) },
				func(v value.Value) value.Value { return value.Object(value.Member{Name: "m", Value: v}) },
			} {
				if v, w := in(a), in(b); v.Equal(w) {
					equal++
					if hash(v) != hash(w) {
						t.Errorf("%v and %v are equal, and hash to %x and %x", v, w, hash(v), hash(w))
					}
				}
			}
		}
	}
	if equal < 3*len(ints) {
		t.Errorf("only %d pairs are equal", equal)
	}
}

// Values of different kinds, sizes and orders hash differently, as far as a list that is made to collide goes.
func TestDifferentValuesHashDifferently(t *testing.T) {
	texts := []string{
		`null`, `true`, `false`, `0`, `1`, `-1`, `0.5`, `-0.5`, `""`, `"a"`, `"b"`, `[]`, `{}`, `[[]]`, `[1]`, `[1,2]`, `[2,1]`, `[[1],2]`, `[[1,2]]`,
		`{"a":1}`, `{"a":2}`, `{"b":1}`, `{"a":1,"b":2}`, `{"a":2,"b":1}`, `{"a":{"b":1}}`, `{"a":[1]}`,
	}
	seen := map[uint64]string{}
	for _, text := range texts {
		v, err := value.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		h := hash(v)
		if other, ok := seen[h]; ok {
			t.Errorf("%s and %s both hash to %x", text, other, h)
		}
		seen[h] = text
	}
}

// In long lists, too, items that are written as integers in one object and not in the other are the same items.
func TestNumbersAreTheSameItemsInLongLists(t *testing.T) {
	d := &schema.Document{Types: []schema.TypeDef{{Name: "root", Atom: schema.Atom{List: &schema.ListDef{
		ElementType: schema.TypeRef{Inlined: schema.Atom{Scalar: schema.Numeric}}, Relationship: schema.Associative,
	}}}}}
	compiled, err := schema.Compile(d)
	if err != nil {
		t.Fatal(err)
	}
	root := compiled["root"]
	for _, n := range []int{fewItems, fewItems + 1, 100} {
		var ints, floats []value.Value
		for i := range n {
			ints, floats = append(ints, value.Int(int64(i-5))), append(floats, value.Float(float64(i-5)))
		}
		ints[0], floats[0] = value.Int(math.MinInt64), value.Float(-1<<63) // the least that is an integer
		slices.Reverse(floats)
		live, err1 := New(value.List(ints...), root)
		config, err2 := New(value.List(floats...), root)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		merged, err := Merge(live, config)
		if err != nil || merged.Content().Len() != n {
			t.Errorf("%d items merge to %d, error %v", n, merged.Content().Len(), err)
		}
		if diff, err := Compare(live, config); err != nil || !diff.isEmpty() {
			t.Errorf("%d items differ: %+v, error %v", n, diff, err)
		}
		if _, err := New(value.List(append(slices.Clone(ints), value.Float(1))...), root); err == nil {
			t.Errorf("%d items and 1.0 have no duplicate", n)
		}
	}
}
