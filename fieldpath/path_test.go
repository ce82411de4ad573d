package fieldpath_test

import (
	"errors"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/slab"
	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/value"
)

func TestParsePath(t *testing.T) {
	for _, c := range []struct{ text, canonical string }{
		{``, ``},
		{`.a.b`, ``},
		{`a.b`, `.a.b`},
		{`[0].a`, ``},
		{`.a[-3][007]`, `.a[-3][7]`},
		{`.metadata.annotations."example.com/owner"`, ``},
		{`"x y".z`, `."x y".z`},
		{`.x y.é`, `."x y"."é"`},
		{`."".a`, ``},
		{`.ports[port=80,protocol="TCP"].x-y/z@$_9`, ``},
		{`.ports[protocol="TCP",port=8e1]`, `.ports[port=80,protocol="TCP"]`},
		{`[a=1,a=0]`, ``},
		{`["a=]"="]",0=true]`, `[0=true,"a=]"="]"]`},
		{`[]`, ``},
		{`[a.b="\x41\U0001f600"]`, `["a.b"="A😀"]`},
		{`[="x"][=-1.5][=1e+06][=null]`, `[="x"][=-1.5][=1000000][=null]`},
		{`[={"b":[1,{}],"a":false}]`, `[={"a":false,"b":[1,{}]}]`},
		{`[="<\u003c\/"]`, `[="<</"]`},
	} {
		p, err := fieldpath.ParsePath(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if c.canonical == "" {
			c.canonical = c.text
		}
		check(t, c.text, p.Text(), c.canonical)
	}
}

func TestParsePathErrors(t *testing.T) {
	for _, c := range []struct {
		text   string
		offset int
	}{
		{`.`, 1}, {`a.`, 2}, {`a..b`, 2}, {`.a"b"`, 2}, {`."a"b`, 4}, {`."a`, 3}, {`a]`, 1}, {`[`, 1}, {`[1`, 2}, {`[1x]`, 2}, {`[-]`, 2}, {`[0]a`, 3},
		{`[99999999999999999999]`, 1}, {`[=]`, 2}, {`[=1`, 3}, {`[=1,2]`, 3}, {`[a]`, 2}, {`[a=]`, 3}, {`[a=1,]`, 5}, {`[a=1,b]`, 6}, {`[=a=1]`, 2}, {`["a]`, 4},
		{`[=k=1v="x"]`, 2}, {`[="\x4"]`, 3},
	} {
		_, err := fieldpath.ParsePath(c.text)
		var syntax *fieldpath.SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("%s: got error %v", c.text, err)
			continue
		}
		check(t, "offset of the error in "+c.text+", "+err.Error(), syntax.Offset, c.offset)
	}
}

func TestPathText(t *testing.T) {
	r := newRandom(t)
	texts := map[string]string{}
	for range few(rounds) {
		p := r.path(r.stock())
		text := p.Text()
		if q, err := fieldpath.ParsePath(text); err != nil || !slices.Equal(p, q) {
			t.Errorf("%s is read as %s, %v", text, q.Text(), err)
		}
		if other, ok := texts[text]; ok && other != wires(p) {
			t.Errorf("%s is the text of two paths: %s and %s", text, other, wires(p))
		}
		texts[text] = wires(p)
	}
}

func TestPathRelations(t *testing.T) {
	parse := func(text string) fieldpath.Path {
		p, err := fieldpath.ParsePath(text)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	sorted := []string{``, `.a`, `.a.b`, `.a[b=1]`, `.a[b=1].c`, `.a[="x"]`, `.a[0]`, `.b`, `[0]`}
	for i, s := range sorted {
		for j, u := range sorted {
			p, q := parse(s), parse(u)
			check(t, s+" compared with "+u, slices.CompareFunc(p, q, paths.Compare), min(max(i-j, -1), 1))
			check(t, s+" equal to "+u, slices.Equal(p, q), i == j)
			check(t, s+" with prefix "+u, p.HasPrefix(q), len(s) >= len(u) && s[:len(u)] == u)
		}
	}
	p := parse(`.a.b`)
	q := slices.Clone(p)
	q[0] = fieldpath.Index(0)
	check(t, "path after its clone changed", p.Text(), `.a.b`)
}

func FuzzParsePath(f *testing.F) {
	seeds.Fuzz(f, []string{`.a."b c"[k="v",n=1]`, `[=null]`, `[="x"][3]`, `a.b[-1]`, `[]`, `["]"={"a":[1.5e-7]}]`, `."\u00e9\ud800"`, `.a b`, `[k="\x41"]`}, func(t *testing.T, text string) {
		p, err := fieldpath.ParsePath(text)
		if err != nil {
			return
		}
		again, err := fieldpath.ParsePath(p.Text())
		if err != nil || !slices.Equal(again, p) {
			t.Fatalf("%q: text %q is read as %q, %v", text, p.Text(), again.Text(), err)
		}
		check(t, "text is canonical", again.Text(), p.Text())
		if !utf8.ValidString(p.Text()) {
			return // the wire has U+FFFD for what is no UTF-8
		}
		for _, e := range p {
			if parsed, err := paths.ParseElement(e.Wire()); err != nil || parsed != e {
				t.Fatalf("%q: element %q is read as %q, %v", text, e.Wire(), parsed.Wire(), err)
			}
		}
	})
}

func TestElements(t *testing.T) {
	key := fieldpath.Key(fieldpath.KeyField{Name: "b", Value: value.String("x\x00y")}, fieldpath.KeyField{Name: "a"})
	check(t, "key", key.Wire(), `k:{"a":null,"b":"x\u0000y"}`)
	check(t, "fields", len(key.Fields()), 2)
	check(t, "second field", key.Fields()[1].Value.Str(), "x\x00y")
	check(t, "first field", key.Fields()[0].Value.IsNull(), true)
	list := value.List(value.Int(-5), value.Float(0.5), value.Object(value.Member{Name: "n", Value: value.Bool(true)}), value.List(), value.Null())
	check(t, "item", fieldpath.Item(list).Value().Equal(list), true)
	check(t, "index", fieldpath.Index(-12).Index(), -12)
	check(t, "name", fieldpath.Field("x").Name(), "x")
	check(t, "1 and 1.0", fieldpath.Item(value.Int(1)), fieldpath.Item(value.Float(1)))
	check(t, "0 and -0", fieldpath.Item(value.Int(0)), fieldpath.Item(value.Float(-1/inf())))
	for _, e := range []fieldpath.Element{{}, key, fieldpath.Item(list), fieldpath.Index(1), fieldpath.Field("x")} {
		check(t, "Any", e == fieldpath.Any(), e.Kind() == 0)
		check(t, "Name of "+e.String(), e.Name() != "", e.Kind() == fieldpath.KindField)
		check(t, "Fields of "+e.String(), e.Fields() != nil, e.Kind() == fieldpath.KindKey)
		check(t, "Value of "+e.String(), e.Value().IsAbsent(), e.Kind() != fieldpath.KindItem)
		check(t, "Index of "+e.String(), e.Index() != 0, e.Kind() == fieldpath.KindIndex)
	}
	check(t, "zero", fieldpath.Element{}.String()+fieldpath.Element{}.Wire(), "{{invalid path element}}")
}

func inf() float64 {
	big := 1e308
	return big * 10
}

// TestItemOrder checks that items sort and are equal as their values are, beyond what a float64 tells apart too.
func TestItemOrder(t *testing.T) {
	r := newRandom(t)
	var values []value.Value
	for _, n := range []int64{0, 1, 1 << 53, 1 << 60, 1<<63 - 1024, 1<<63 - 1} {
		for _, d := range []int64{-1, 0, 1} {
			values = append(values, value.Int(n+d), value.Int(-n-d), value.Float(float64(n+d)), value.Float(-float64(n+d)), value.Float(float64(n)+0.5))
		}
	}
	for range 300 {
		values = append(values, r.value(3), value.Int(int64(r.Uint64())))
	}
	values = append(values, value.Float(1e300), value.Float(-1e300), value.Float(5e-324))
	for _, v := range values {
		if got := fieldpath.Item(v).Value(); !got.Equal(v) {
			t.Errorf("%v comes back as %v", v, got)
		}
		for _, w := range values {
			got, want := paths.Compare(fieldpath.Item(v), fieldpath.Item(w)), value.Compare(v, w)
			if got != want || (fieldpath.Item(v) == fieldpath.Item(w)) != v.Equal(w) {
				t.Errorf("%v and %v: compared as %d, want %d", v, w, got, want)
			}
		}
	}
}

func TestCut(t *testing.T) {
	r := newRandom(t)
	var m slab.Text
	var made, want []fieldpath.Element
	for range few(rounds) {
		fields := []fieldpath.KeyField{{Name: pick(r, strings), Value: r.value(1)}, {Name: pick(r, strings), Value: r.value(1)}}
		given := slices.Clone(fields)
		v := r.value(2)
		made = append(made, paths.Key(&m, fields), paths.Item(&m, v), paths.Key(&m, nil))
		want = append(want, fieldpath.Key(given...), fieldpath.Item(v), fieldpath.Key())
		check(t, "fields", fields[0].Name+fields[1].Name, given[0].Name+given[1].Name)
	}
	for i := range made {
		check(t, "element", made[i], want[i])
	}
}

func TestAllocations(t *testing.T) {
	set := fieldpath.SetOf(fieldpath.Path{fieldpath.Field("a"), fieldpath.Field("b")}, fieldpath.Path{fieldpath.Field("c")})
	fields := []fieldpath.KeyField{{Name: "protocol", Value: value.String("TCP")}, {Name: "port", Value: value.Int(80)}}
	var text slab.Text
	var builder fieldpath.Builder
	r := newRandom(t)
	name, other := "name", "other"
	var element fieldpath.Element
	var path fieldpath.Path
	members := 0
	_, sub := set.Get(fieldpath.Field("x"))
	for _, c := range []struct {
		what string
		max  float64
		do   func()
	}{
		{"Field", 0, func() { element = fieldpath.Field(name) }},
		{"a path of three fields", 1, func() { path = fieldpath.Path{fieldpath.Field(name), fieldpath.Field(other), element} }},
		{"Get", 0, func() { set.Get(fieldpath.Field("a")) }},
		{"Has", 0, func() { set.Has(path) }},
		{"Entries", 0, func() {
			for e := range set.Entries() {
				if e.Member {
					members++
				}
			}
		}},
		{"Union that changes nothing", 0, func() { set.Union(sub) }},
		{"the set that a Builder expects", 0, func() {
			paths.Expect(&builder, set)
			r.emit(&builder, set)
			builder.Set()
		}},
		{"a key cut from a slab", 0, func() { paths.Key(&text, fields) }},
		{"Key", 2, func() { element = fieldpath.Key(fields[:1]...) }},
	} {
		if got := testing.AllocsPerRun(1000, c.do); got > c.max {
			t.Errorf("%s allocates %v times, want at most %v", c.what, got, c.max)
		}
	}
}
