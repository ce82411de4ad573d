package fieldpath_test

import (
	"slices"
	"testing"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/testing/seeds"
)

// model is a set of paths, the slow way: paths by their wire texts.
type model map[string]fieldpath.Path

func modelOf(some []fieldpath.Path) model {
	m := model{}
	for _, p := range some {
		if len(p) > 0 {
			m[wires(p)] = p
		}
	}
	return m
}

// where returns the paths of m that keep wants.
func (m model) where(keep func(fieldpath.Path) bool) model {
	out := model{}
	for text, p := range m {
		if keep(p) {
			out[text] = p
		}
	}
	return out
}

func (m model) has(p fieldpath.Path) bool {
	_, ok := m[wires(p)]
	return ok
}

// covers reports whether p or a path above it is in m.
func (m model) covers(p fieldpath.Path) bool {
	for i := range p {
		if m.has(p[:i+1]) {
			return true
		}
	}
	return false
}

func (m model) union(other model) model {
	out := m.where(func(fieldpath.Path) bool { return true })
	for text, p := range other {
		out[text] = p
	}
	return out
}

// checkModel checks that s has the paths of m and is in order.
func checkModel(t *testing.T, what string, s fieldpath.Set, m model) {
	t.Helper()
	got := slices.Collect(s.All())
	if len(got) != len(m) || s.Len() != len(m) || s.IsEmpty() != (len(m) == 0) {
		t.Fatalf("%s has %d paths, Len is %d, IsEmpty is %v; want %d paths", what, len(got), s.Len(), s.IsEmpty(), len(m))
	}
	for _, p := range got {
		if !m.has(p) || !s.Has(p) {
			t.Fatalf("%s has %s", what, p.Text())
		}
	}
	checkOrder(t, what, s)
}

// checkOrder checks that entries are strictly ascending, at every level, and none is empty.
func checkOrder(t *testing.T, what string, s fieldpath.Set) {
	t.Helper()
	var last fieldpath.Element
	for e := range s.Entries() {
		if paths.Compare(last, e.Element) >= 0 || !e.Member && e.Sub.IsEmpty() {
			t.Fatalf("%s: entry %v after %v, empty %v", what, e.Element, last, e.Sub.IsEmpty())
		}
		last = e.Element
		checkOrder(t, what, e.Sub)
	}
}

func TestOperationsModel(t *testing.T) {
	r := newRandom(t)
	for range few(rounds) {
		stock := r.stock()
		some, others := r.paths(stock), r.paths(stock)
		a, b := fieldpath.SetOf(some...), fieldpath.SetOf(others...)
		m, n := modelOf(some), modelOf(others)
		checkModel(t, "operand", a, m)
		checkModel(t, "Union", a.Union(b), m.union(n))
		checkModel(t, "Intersect", a.Intersect(b), m.where(n.has))
		checkModel(t, "Minus", a.Minus(b), m.where(func(p fieldpath.Path) bool { return !n.has(p) }))
		checkModel(t, "Without", a.Without(b), m.where(func(p fieldpath.Path) bool { return !n.covers(p) }))
		within, _ := paths.Within(a, b)
		checkModel(t, "Within", within, m.where(n.covers))
		checkModel(t, "Leaves", a.Leaves(), m.where(func(p fieldpath.Path) bool {
			return len(m.where(func(q fieldpath.Path) bool { return len(q) > len(p) && q.HasPrefix(p) })) == 0
		}))
		checkModel(t, "operand afterwards", a, m)
		check(t, "Equal", a.Equal(b), len(m) == len(n) && len(m.where(n.has)) == len(m))
	}
}

// TestOperationsShare checks that an operation that changes nothing returns the set it was called on.
func TestOperationsShare(t *testing.T) {
	r := newRandom(t)
	for range few(rounds) {
		stock := r.stock()
		a, b := fieldpath.SetOf(r.paths(stock)...), fieldpath.SetOf(r.paths(stock)...)
		union, both, rest := a.Union(b), a.Intersect(b), a.Minus(b)
		check(t, "Union with a part", paths.Same(union.Union(both), union), true)
		check(t, "Intersect with the whole", paths.Same(both.Intersect(union), both), true)
		check(t, "Minus of nothing common", paths.Same(rest.Minus(b), rest), true)
		rest = a.Without(b)
		check(t, "Without nothing common", paths.Same(rest.Without(b), rest), true)
	}
}

func TestBuilderModel(t *testing.T) {
	r := newRandom(t)
	var b fieldpath.Builder
	var earlier fieldpath.Set
	var earlierModel model
	for range few(rounds) {
		want := model{}
		stock := r.stock()
		if r.IntN(2) == 0 {
			paths.Expect(&b, fieldpath.SetOf(r.paths(stock)...))
		}
		r.build(&b, want, stock, nil)
		var except fieldpath.Set
		if r.IntN(2) == 0 {
			except = fieldpath.SetOf(r.paths(stock)...)
			want = want.where(func(p fieldpath.Path) bool { return !except.Has(p) })
		}
		s := paths.SetWithout(&b, except)
		checkModel(t, "set", s, want)
		checkModel(t, "earlier set", earlier, earlierModel)
		earlier, earlierModel = s, want
	}
}

// build makes random calls of b at the path at, and notes in want what they add.
func (r random) build(b *fieldpath.Builder, want model, stock []fieldpath.Element, at fieldpath.Path) {
	add := func(p fieldpath.Path) {
		p = append(slices.Clone(at), p...)
		want[wires(p)] = p
	}
	for range r.IntN(5) {
		switch r.IntN(5) {
		case 0:
			p := r.path(stock)
			b.Add(p)
			add(p)
		case 1:
			e := pick(r, stock)
			paths.Leaf(b, e)
			add(fieldpath.Path{e})
		case 2:
			some := r.paths(stock)
			paths.AddSet(b, fieldpath.SetOf(some...))
			for _, p := range some {
				add(p)
			}
		default:
			if len(at) == 3 {
				continue
			}
			e, member := pick(r, stock), r.IntN(2) == 0
			paths.Enter(b, e)
			r.build(b, want, stock, append(slices.Clone(at), e))
			paths.Leave(b, member)
			if member {
				add(fieldpath.Path{e})
			}
		}
	}
}

// TestBuilderExpects builds sets in order, and expects the same ones or some that differ in a few members.
func TestBuilderExpects(t *testing.T) {
	r := newRandom(t)
	var b fieldpath.Builder
	for range few(rounds) {
		stock := r.stock()
		want := fieldpath.SetOf(r.paths(stock)...).Union(fieldpath.SetOf(r.paths(stock)...))
		like := want
		switch some := fieldpath.SetOf(r.path(stock)); r.IntN(3) {
		case 0:
			like = want.Union(some)
		case 1:
			like = want.Minus(some)
		}
		paths.Expect(&b, like)
		r.emit(&b, want)
		got := b.Set()
		check(t, "set", paths.JSON(got), paths.JSON(want))
		check(t, "the expected set itself", paths.Same(got, like), want.Equal(like))
		r.emit(&b, want)
		check(t, "the next set, which is not expected", !want.IsEmpty() && paths.Same(b.Set(), like), false)
	}
}

// emit adds the members of s to b in order. At times it enters a path that comes to nothing.
func (r random) emit(b *fieldpath.Builder, s fieldpath.Set) {
	for e := range s.Entries() {
		if r.IntN(8) == 0 {
			paths.Enter(b, fieldpath.Field("nothing"))
			paths.Enter(b, fieldpath.Index(1))
			paths.Leave(b, false)
			paths.Leave(b, false)
		}
		if e.Sub.IsEmpty() {
			paths.Leaf(b, e.Element)
			continue
		}
		paths.Enter(b, e.Element)
		r.emit(b, e.Sub)
		paths.Leave(b, e.Member)
	}
}

func TestBuilderMisuse(t *testing.T) {
	for name, misuse := range map[string]func(*fieldpath.Builder){
		"Leave without Enter": func(b *fieldpath.Builder) { paths.Leave(b, true) },
		"Leave after Add":     func(b *fieldpath.Builder) { b.Add(fieldpath.Path{fieldpath.Field("a")}); paths.Leave(b, true) },
		"Set before Leave":    func(b *fieldpath.Builder) { paths.Enter(b, fieldpath.Field("a")); b.Set() },
		"Leave without Enter, of a builder that expects": func(b *fieldpath.Builder) {
			paths.Expect(b, fieldpath.SetOf(fieldpath.Path{fieldpath.Field("a")}))
			paths.Leave(b, true)
		},
		"Set before Leave, of a builder that expects": func(b *fieldpath.Builder) {
			paths.Expect(b, fieldpath.SetOf(fieldpath.Path{fieldpath.Field("a")}))
			paths.Enter(b, fieldpath.Field("a"))
			b.Set()
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			misuse(new(fieldpath.Builder))
		})
	}
}

// Sets that were read know how they are spelled, and unions find names in many texts. Neither shows.
func TestUnionOfMany(t *testing.T) {
	for seed := range seeds.Each(t, few(300)) {
		r := random{seeds.Stream(seed, 0)}
		stock := r.stock()
		var got fieldpath.Set
		want := model{}
		for range 12 {
			some := r.paths(stock)
			read, err := fieldpath.ParseSet(fieldpath.SetOf(some...).AppendJSON(nil))
			if err != nil {
				t.Fatal(err)
			}
			switch n := r.IntN(6); {
			case n < 4:
				got, want = got.Union(read), want.union(modelOf(some))
			case n == 4:
				got, want = got.Minus(read), want.where(func(p fieldpath.Path) bool { return !modelOf(some).has(p) })
			default:
				got = read.Union(got)
				want = want.union(modelOf(some))
			}
			checkModel(t, "combination", got, want)
			var rebuilt fieldpath.Builder
			for p := range got.All() {
				rebuilt.Add(p)
			}
			check(t, "text", string(got.AppendJSON(nil)), string(rebuilt.Set().AppendJSON(nil)))
			if same := got.Union(read.Intersect(got)); !paths.Same(same, got) {
				t.Fatalf("seed %d: the union with a part is a copy", seed)
			}
		}
	}
}
