package fieldpath_test

import (
	"bytes"
	"testing"

	smd "sigs.k8s.io/structured-merge-diff/v4/fieldpath"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/value"
)

// The tests of this file compare with structured-merge-diff, which kube-apiserver uses.

// rounds is how many random cases a comparison makes.
const rounds = 5000

// few returns a quarter of n in short runs, as those are that the mutants of this package are tried with.
func few(n int) int {
	if testing.Short() {
		return n / 4
	}
	return n
}

func smdElement(t *testing.T, e fieldpath.Element) smd.PathElement {
	t.Helper()
	pe, err := smd.DeserializePathElement(e.Wire())
	if err != nil {
		t.Fatalf("the reference does not read %q: %v", e.Wire(), err)
	}
	return pe
}

func smdPath(t *testing.T, p fieldpath.Path) smd.Path {
	t.Helper()
	out := make(smd.Path, len(p))
	for i, e := range p {
		out[i] = smdElement(t, e)
	}
	return out
}

func smdSet(t *testing.T, some []fieldpath.Path) *smd.Set {
	t.Helper()
	s := smd.NewSet()
	for _, p := range some {
		s.Insert(smdPath(t, p))
	}
	return s
}

func smdJSON(t *testing.T, s *smd.Set) string {
	t.Helper()
	b, err := s.ToJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func check[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %v\nwant %v", what, got, want)
	}
}

func TestElementsAgree(t *testing.T) {
	r := newRandom(t)
	sign := func(n int) int { return min(max(n, -1), 1) }
	for range few(rounds) {
		a, b := r.element(), r.element()
		x, y := smdElement(t, a), smdElement(t, b)
		wire, err := smd.SerializePathElement(x)
		if err != nil {
			t.Fatal(err)
		}
		check(t, "wire", a.Wire(), wire)
		if !unordered(a) {
			check(t, "display of "+wire, a.String(), x.String())
		}
		check(t, "order of "+a.Wire()+" and "+b.Wire(), sign(paths.Compare(a, b)), sign(x.Compare(y)))
		check(t, "equality of "+a.Wire()+" and "+b.Wire(), a == b, x.Equals(y))
		parsed, err := paths.ParseElement(wire)
		if err != nil {
			t.Fatal(err)
		}
		check(t, "parse of "+wire, parsed, a)
	}
}

// unordered reports whether e holds an object of several members, which the reference displays in random order.
func unordered(e fieldpath.Element) bool {
	wide := objectOfSeveral(e.Value())
	for _, f := range e.Fields() {
		wide = wide || objectOfSeveral(f.Value)
	}
	return wide
}

func objectOfSeveral(v value.Value) bool {
	wide := v.Kind() == value.KindObject && v.Len() > 1
	for item := range v.Items() {
		wide = wide || objectOfSeveral(item)
	}
	for _, member := range v.Members() {
		wide = wide || objectOfSeveral(member)
	}
	return wide
}

func TestSetsAgree(t *testing.T) {
	r := newRandom(t)
	for range few(rounds) {
		stock := r.stock()
		some, others := r.paths(stock), r.paths(stock)
		a, b := fieldpath.SetOf(some...), fieldpath.SetOf(others...)
		x, y := smdSet(t, some), smdSet(t, others)
		text := string(a.AppendJSON(nil))
		check(t, "JSON", text, smdJSON(t, x))
		check(t, "Len", a.Len(), x.Size())
		check(t, "Equal", a.Equal(b), x.Equals(y))
		check(t, "Leaves", string(a.Leaves().AppendJSON(nil)), smdJSON(t, x.Leaves()))
		check(t, "Union", string(a.Union(b).AppendJSON(nil)), smdJSON(t, x.Union(y)))
		check(t, "Intersect", string(a.Intersect(b).AppendJSON(nil)), smdJSON(t, x.Intersection(y)))
		check(t, "Minus", string(a.Minus(b).AppendJSON(nil)), smdJSON(t, x.Difference(y)))
		check(t, "Without", string(a.Without(b).AppendJSON(nil)), smdJSON(t, x.RecursiveDifference(y)))
		e, p := pick(r, stock), r.path(stock)
		_, sub := a.Get(e)
		check(t, "Sub", string(sub.AppendJSON(nil)), smdJSON(t, x.WithPrefix(smdElement(t, e))))
		check(t, "Has", a.Has(fieldpath.Path{e}), x.Has(smd.Path{smdElement(t, e)}))
		check(t, "Has", a.Has(p), x.Has(smdPath(t, p)))
		check(t, "operand afterwards", string(a.AppendJSON(nil)), text)
		parsed, err := fieldpath.ParseSet([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if !parsed.Equal(a) {
			t.Errorf("%s: parsed as another set", text)
		}
		if t.Failed() {
			t.Fatalf("in\n%s\nand\n%s", text, b.AppendJSON(nil))
		}
	}
}

func TestOrderAgrees(t *testing.T) {
	r := newRandom(t)
	for range few(rounds) {
		some := r.paths(r.stock())
		var got, want []string
		for p := range fieldpath.SetOf(some...).All() {
			got = append(got, wires(p))
		}
		smdSet(t, some).Iterate(func(p smd.Path) {
			own := make(fieldpath.Path, len(p))
			for i, pe := range p {
				wire, err := smd.SerializePathElement(pe)
				if err != nil {
					t.Fatal(err)
				}
				if own[i], err = paths.ParseElement(wire); err != nil {
					t.Fatal(err)
				}
			}
			want = append(want, wires(own))
		})
		if len(got) != len(want) {
			t.Fatalf("%d paths, want %d", len(got), len(want))
		}
		for i := range got {
			check(t, "path", got[i], want[i])
		}
	}
}

func wires(p fieldpath.Path) string {
	var b []byte
	for _, e := range p {
		b = append(paths.AppendWire(e, b), ' ')
	}
	return string(b)
}

func TestDisplayAgrees(t *testing.T) {
	const text = `{"f:a.b":{"f:x y":{}},"f:c":{".":{},"k:{\"n\":1000000,\"s\":\"q\\\"\\u2028é\"}":{".":{},"f:":{}},"v:0.5":{},"v:[1,\"x\",null,true]":{},"i:-3":{}}}`
	a, err := fieldpath.ParseSet([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	x := smd.NewSet()
	if err := x.FromJSON(bytes.NewReader([]byte(text))); err != nil {
		t.Fatal(err)
	}
	check(t, "String", a.String(), x.String())
}

func TestFiltersAgree(t *testing.T) {
	r := newRandom(t)
	for range few(rounds) {
		stock := r.stock()[:3]
		some := append(r.paths(stock), r.paths(stock)...)
		n := r.IntN(7)
		if r.IntN(8) == 0 {
			n = 13 + r.IntN(40) // then the order of the reference's sort shows
		}
		prefixes := make([]fieldpath.Path, n)
		matchers := make([]*smd.SetMatcher, len(prefixes))
		for i := range prefixes {
			prefixes[i] = fieldpath.Path(r.path(stock))[r.IntN(2):]
			parts := make([]any, len(prefixes[i]))
			for j := range parts {
				if r.IntN(4) == 0 {
					prefixes[i][j] = fieldpath.Any()
					parts[j] = smd.MatchAnyPathElement()
				} else {
					parts[j] = smdElement(t, prefixes[i][j])
				}
			}
			matchers[i] = smd.MakePrefixMatcherOrDie(parts...)
		}
		set := fieldpath.SetOf(some...)
		got := paths.Filter(set, fieldpath.PatternOf(prefixes...))
		want := smd.NewIncludeMatcherFilter(matchers...).Filter(smdSet(t, some))
		check(t, "Filter", string(got.AppendJSON(nil)), smdJSON(t, want))
		if t.Failed() {
			t.Fatalf("%s by %v", set.AppendJSON(nil), prefixes)
		}
	}
}
