package fieldpath_test

import (
	"slices"
	"testing"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/value"
)

func parseSet(t testing.TB, fieldsV1 string) fieldpath.Set {
	t.Helper()
	s, err := fieldpath.ParseSet([]byte(fieldsV1))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAllBreaksAndGivesAway(t *testing.T) {
	s := parseSet(t, `{"f:a":{".":{},"f:b":{"f:c":{},"f:d":{}}},"f:e":{}}`)
	for limit := range s.Len() {
		seen := 0
		for range s.All() {
			if seen++; seen > limit {
				break
			}
		}
		check(t, "paths before the break", seen, limit+1)
	}
	var texts string
	var paths []fieldpath.Path
	for p := range s.All() {
		paths = append(paths, p)
	}
	for _, p := range paths {
		texts += p.Text() + " "
		for i := range p {
			p[i] = fieldpath.Index(0)
		}
	}
	check(t, "paths kept", texts, ".a .e .a.b.c .a.b.d ")
	check(t, "set afterwards", s.String(), ".a\n.e\n.a.b.c\n.a.b.d")
	for range s.Entries() {
		break
	}
}

func TestGet(t *testing.T) {
	r := newRandom(t)
	for range few(rounds) {
		stock := r.stock()
		s := fieldpath.SetOf(r.paths(stock)...)
		var branches []fieldpath.Element
		for e := range s.Entries() {
			member, sub := s.Get(e.Element)
			check(t, "membership", member, e.Member)
			check(t, "what is below", paths.Same(sub, e.Sub), true)
			if !sub.IsEmpty() {
				branches = append(branches, e.Element)
			}
		}
		for e := range paths.Branches(s) {
			member, sub := s.Get(e.Element)
			check(t, "branch", e.Element, branches[0])
			check(t, "branch that is a member", e.Member, member)
			check(t, "what is below a branch", paths.Same(e.Sub, sub), true)
			branches = branches[1:]
		}
		check(t, "branches left", len(branches), 0)
		e := pick(r, stock)
		member, sub := s.Get(e)
		check(t, "found", member, s.Has(fieldpath.Path{e}))
		check(t, "nothing below", sub.IsEmpty(), !slices.ContainsFunc(slices.Collect(s.All()), func(p fieldpath.Path) bool {
			return len(p) > 1 && p[0] == e
		}))
		for range paths.Branches(s) {
			break
		}
	}
}

// TestSubIsItself checks that what is cut out of a set behaves as a set, and that using it leaves the whole as it was.
func TestSubIsItself(t *testing.T) {
	const text = `{"f:a":{".":{},"f:b":{},"f:c":{"f:d":{}}},"f:e":{"f:b":{}}}`
	s := parseSet(t, text)
	_, sub := s.Get(fieldpath.Field("a"))
	_, other := s.Get(fieldpath.Field("e"))
	check(t, "sub", string(sub.AppendJSON(nil)), `{"f:b":{},"f:c":{"f:d":{}}}`)
	check(t, "union", string(sub.Union(other).AppendJSON(nil)), `{"f:b":{},"f:c":{"f:d":{}}}`)
	grown := sub.Union(parseSet(t, `{"f:x":{}}`))
	check(t, "grown", string(grown.AppendJSON(nil)), `{"f:b":{},"f:c":{"f:d":{}},"f:x":{}}`)
	check(t, "whole", string(s.AppendJSON(nil)), text)
}

func TestFilter(t *testing.T) {
	s := parseSet(t, `{"f:a":{".":{},"f:b":{".":{},"f:c":{}},"f:x":{"f:c":{}}},"f:d":{}}`)
	a, b, c, x := fieldpath.Field("a"), fieldpath.Field("b"), fieldpath.Field("c"), fieldpath.Field("x")
	for _, test := range []struct {
		prefixes []fieldpath.Path
		want     string
	}{
		{nil, ".a\n.d\n.a.b\n.a.b.c\n.a.x.c"},
		{[]fieldpath.Path{{}}, ".a\n.d\n.a.b\n.a.b.c\n.a.x.c"},
		{[]fieldpath.Path{{a, b}}, ".a\n.a.b\n.a.b.c"},
		{[]fieldpath.Path{{a, b}, {a, x}}, ".a\n.a.b\n.a.b.c\n.a.x.c"},
		{[]fieldpath.Path{{a, fieldpath.Any(), c}}, ".a\n.a.b\n.a.b.c\n.a.x.c"},
		{[]fieldpath.Path{{fieldpath.Any(), b}, {a, x}}, ".a\n.d\n.a.b\n.a.b.c"}, // the wildcard hides a
		{[]fieldpath.Path{{fieldpath.Any(), b}, {fieldpath.Any(), x}}, ".a\n.d\n.a.b\n.a.b.c"},
		{[]fieldpath.Path{{a, b}, {c}, {a, x}}, ".a\n.a.b\n.a.b.c"}, // c keeps the prefixes with a apart
		{[]fieldpath.Path{{c}}, ""},
	} {
		check(t, "Filter", paths.Filter(s, fieldpath.PatternOf(test.prefixes...)).String(), test.want)
	}
}

// TestNameless prints sets that have the zero Element, for which fieldsV1 has no name.
func TestNameless(t *testing.T) {
	a, b, none := fieldpath.Field("a"), fieldpath.Field("b"), fieldpath.Any()
	for _, test := range []struct {
		paths []fieldpath.Path
		want  string
	}{
		{[]fieldpath.Path{{none}}, `{}`},
		{[]fieldpath.Path{{none, a}, {none, none}}, `{}`},
		{[]fieldpath.Path{{none}, {a}}, `{"f:a":{}}`},
		{[]fieldpath.Path{{a}, {a, none}}, `{"f:a":{}}`},
		{[]fieldpath.Path{{a, none}, {b}}, `{"f:b":{}}`},
		{[]fieldpath.Path{{a, none, b}, {a, b}, {a, b, none}, {b, none}}, `{"f:a":{"f:b":{}}}`},
	} {
		s := fieldpath.SetOf(test.paths...)
		if got := string(s.AppendJSON([]byte("x"))); got != "x"+test.want {
			t.Errorf("%v is printed as %s, want %s", test.paths, got, test.want)
		}
		if got := paths.JSON(s); got != test.want {
			t.Errorf("%v is the text %s, want %s", test.paths, got, test.want)
		}
		if got := paths.Value(s).String(); got != test.want {
			t.Errorf("%v is the document %s, want %s", test.paths, got, test.want)
		}
		if got, _ := value.FromAny(paths.ToAny(s)); got.String() != test.want {
			t.Errorf("%v is the map %v, want %s", test.paths, got, test.want)
		}
		if !s.Has(test.paths[0]) {
			t.Errorf("%v is not in the set of it", test.paths[0])
		}
	}
}

func TestNilBuilder(t *testing.T) {
	var b *fieldpath.Builder
	if b.Add(nil); !b.Set().IsEmpty() {
		t.Error("the nil Builder is not empty")
	}
	defer func() {
		if p := recover(); p != "fieldpath: Add to a nil Builder" {
			t.Errorf("panic %v", p)
		}
	}()
	b.Add(fieldpath.Path{fieldpath.Field("a")})
}
