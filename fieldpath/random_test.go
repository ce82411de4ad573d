package fieldpath_test

import (
	"math/rand/v2"
	"testing"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/value"
)

// random makes elements, paths and sets that often meet: names and values come from small stocks that hold every character
// that some notation escapes.
type random struct{ *rand.Rand }

func newRandom(t testing.TB) random { return random{seeds.Rand(t)} }

func pick[T any](r random, stock []T) T { return stock[r.IntN(len(stock))] }

var strings = []string{"a", "b", "c", "name", "metadata", "", ".", "a.b/c", "x y", "a<b>&", `q"\`, "\n\t\r\b\f\x00\x01\x7f", "é", "😀",
	"\u2028\u2029\ufffd", "a\x00", "a\x00\xc2\x80", "f:", "kubernetes.io/name", "=", "[", "]", ",", "a=b", "7"}

var names = append([]string{"\xff", "a\x80b"}, strings...)

var numbers = []value.Value{value.Int(0), value.Int(1), value.Int(-1), value.Int(80), value.Int(1000000), value.Int(123456789), value.Int(1 << 52),
	value.Int(-1 << 52), value.Float(1), value.Float(0.5), value.Float(-2.25), value.Float(1e-7), value.Float(1.5e-5), value.Float(1e21),
	value.Float(1e300), value.Float(5e-324), value.Float(1e6)}

func (r random) value(depth int) value.Value {
	switch n := r.IntN(12); {
	case n < 5 || depth == 0 && n > 8:
		return value.String(pick(r, strings))
	case n < 7:
		return pick(r, numbers)
	case n == 7:
		return value.Bool(r.IntN(2) == 0)
	case n == 8:
		return value.Null()
	case n == 9:
		items := make([]value.Value, r.IntN(3))
		for i := range items {
			items[i] = r.value(depth - 1)
		}
		return value.List(items...)
	}
	object := value.Object()
	for range r.IntN(3) {
		object = object.With(pick(r, strings), r.value(depth-1))
	}
	return object
}

func (r random) element() fieldpath.Element {
	switch r.IntN(10) {
	case 0, 1:
		fields := make([]fieldpath.KeyField, r.IntN(4))
		for i := range fields {
			fields[i] = fieldpath.KeyField{Name: pick(r, strings), Value: r.value(1)}
		}
		return fieldpath.Key(fields...)
	case 2:
		return fieldpath.Item(r.value(2))
	case 3:
		return fieldpath.Index(r.IntN(7) - 3)
	case 4:
		return fieldpath.Field(pick(r, names))
	}
	return fieldpath.Field(pick(r, strings[:4]))
}

// stock returns elements to make paths of.
func (r random) stock() []fieldpath.Element {
	stock := make([]fieldpath.Element, 3+r.IntN(10))
	for i := range stock {
		stock[i] = r.element()
	}
	return stock
}

func (r random) path(stock []fieldpath.Element) fieldpath.Path {
	p := make(fieldpath.Path, 1+r.IntN(4))
	for i := range p {
		p[i] = pick(r, stock)
	}
	return p
}

func (r random) paths(stock []fieldpath.Element) []fieldpath.Path {
	paths := make([]fieldpath.Path, r.IntN(12))
	for i := range paths {
		paths[i] = r.path(stock)
	}
	return paths
}
