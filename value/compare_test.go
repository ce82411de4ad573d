package value

import (
	"cmp"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// ascending lists values in the order that Compare documents.
func ascending() []Value {
	return []Value{
		Float(-math.MaxFloat64), Float(math.Nextafter(-1<<63, -math.MaxFloat64)), Int(math.MinInt64), Int(math.MinInt64 + 1),
		Int(-1<<53 - 1), Float(-1 << 53), Float(-1.5), Int(-1), Float(-0.5), Int(0), Float(5e-324), Float(0.5), Int(1), Float(1.5),
		Int(1<<53 - 1), Int(1 << 53), Int(1<<53 + 1), Float(1<<53 + 2), Int(math.MaxInt64 - 1), Int(math.MaxInt64), Float(1 << 63),
		Float(math.MaxFloat64),
		String(""), String("\x00"), String("a"), String("a\x00"), String("aa"), String("b"), String("é"), String("\xff"),
		Bool(false), Bool(true),
		List(), List(Int(1)), List(Int(1), Int(0)), List(Int(2)), List(List()), List(Null()),
		Object(), Object(Member{"", Null()}), Object(Member{"a", Int(1)}), Object(Member{"a", Int(1)}, Member{"b", Int(0)}),
		Object(Member{"a", Int(2)}), Object(Member{"b", Int(0)}),
		Null(),
		{},
	}
}

func TestCompareOrder(t *testing.T) {
	values := ascending()
	for i, v := range values {
		for j, w := range values {
			if got, want := Compare(v, w), cmp.Compare(i, j); got != want {
				t.Errorf("Compare(%v, %v) = %d, want %d", v, w, got, want)
			}
			if got, want := v.Equal(w), i == j; got != want {
				t.Errorf("(%v).Equal(%v) = %t", v, w, got)
			}
		}
	}
}

func TestEqualNumbers(t *testing.T) {
	for _, pair := range [][2]Value{
		{Int(1), Float(1)}, {Int(0), Float(math.Copysign(0, -1))}, {Float(0), Float(math.Copysign(0, -1))},
		{Int(1 << 53), Float(1 << 53)}, {Int(math.MinInt64), Float(-1 << 63)},
		{List(Int(2)), List(Float(2))}, {Object(Member{"a", Int(2)}), Object(Member{"a", Float(2)})},
	} {
		if v, w := pair[0], pair[1]; !v.Equal(w) || !w.Equal(v) || Compare(v, w) != 0 || Compare(w, v) != 0 {
			t.Errorf("%v and %v are not equal", v, w)
		}
	}
}

// TestEqualStrings tells strings of one length apart, wherever they stand.
func TestEqualStrings(t *testing.T) {
	a, b, same := String("one"), String("two"), String(string([]byte("one")))
	for _, in := range []func(Value) Value{
		func(v Value) Value { return v },
		func(v Value) Value { return List(v) },
		func(v Value) Value { return Object(Member{"a", v}) },
	} {
		if in(a).Equal(in(b)) || Compare(in(a), in(b)) >= 0 {
			t.Errorf("%v and %v are equal", in(a), in(b))
		}
		if !in(a).Equal(in(same)) || Compare(in(a), in(same)) != 0 {
			t.Errorf("%v does not equal itself", in(a))
		}
	}
}

// TestCompareNumbers checks numbers of both kinds against exact arithmetic.
func TestCompareNumbers(t *testing.T) {
	seeded(t, 20000, func(t *testing.T, r *rand.Rand) {
		v, w := randomNumber(r), randomNumber(r)
		if got, want := Compare(v, w), exact(v).Cmp(exact(w)); got != want {
			t.Errorf("Compare(%v, %v) = %d, want %d", v, w, got, want)
		}
	})
}

func randomNumber(r *rand.Rand) Value {
	if r.IntN(2) == 0 {
		return Int(randomInt(r))
	}
	return Float(randomFloat(r))
}

func exact(v Value) *big.Rat {
	if v.Kind() == KindInt {
		return new(big.Rat).SetInt64(v.Int())
	}
	return new(big.Rat).SetFloat64(v.Float())
}

// TestCompareIsTotal: antisymmetric, transitive, and 0 exactly when Equal.
func TestCompareIsTotal(t *testing.T) {
	seeded(t, 3000, func(t *testing.T, r *rand.Rand) {
		values := []Value{randomNumber(r), {}}
		for range 4 {
			v := randomValue(r, 2)
			values = append(values, v, disturbed(r, v))
		}
		slices.SortFunc(values, Compare)
		for i, v := range values {
			for _, w := range values[i:] {
				c := Compare(v, w)
				if c > 0 {
					t.Errorf("%v sorts after %v, and before it", v, w)
				}
				if Compare(w, v) != -c {
					t.Errorf("Compare(%v, %v) = %d and Compare(%v, %v) = %d", v, w, c, w, v, Compare(w, v))
				}
				if equal := v.Equal(w); equal != w.Equal(v) || equal != (c == 0) {
					t.Errorf("Compare(%v, %v) = %d, but Equal says %t", v, w, c, equal)
				}
			}
		}
	})
}

// disturbed is a copy of v that shares nothing with it and differs, most of the time, in one place.
func disturbed(r *rand.Rand, v Value) Value {
	switch v.Kind() {
	case KindList:
		items := slices.Clone(v.items())
		if len(items) > 0 {
			i := r.IntN(len(items))
			items[i] = disturbed(r, items[i])
		}
		return List(items...)
	case KindObject:
		members := slices.Clone(v.members())
		if len(members) > 0 {
			m := &members[r.IntN(len(members))]
			m.Value = disturbed(r, m.Value)
		}
		return Object(members...)
	case KindInt:
		return pick(r, Int(v.Int()+1), Float(v.Float()))
	case KindString:
		return String(v.Str() + pick(r, "", "a"))
	}
	return pick(r, v, Null(), Int(1))
}
