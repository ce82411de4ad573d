package typed_test

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/testing/gen"
	"github.com/deed-project/deed/internal/testing/race"
	"github.com/deed-project/deed/internal/work"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// A walk finds what a lookup of each path would find, in the order of the set.
func TestWalkFindsWhatLookupsFind(t *testing.T) {
	found := 0
	eachTrial(t, func(x *trial) {
		all := x.live.Fields().Union(x.other.Fields())
		s := gen.Subset(x.values.Choices, all)
		sets := []fieldpath.Set{x.live.Fields(), {}, gen.Subset(x.values.Choices, all), x.other.Fields()}
		sets = append(sets, sets[2], s, fieldpath.Set{}, sets[0], s) // some are there twice, or are the one that is followed
		var paths []fieldpath.Path
		for step := range typed.Walk(s, []typed.Value{x.live, x.other}, sets...) {
			paths = append(paths, slices.Clone(step.Path))
			for i, v := range []typed.Value{x.live, x.other} {
				if want := lookup(v, step.Path); !step.Values[i].Same(want) || !typing.At(v, step.Path).Same(want) {
					x.Errorf("value %d has %v at %v, and %v by itself, want %v", i, step.Values[i], step.Path, typing.At(v, step.Path), want)
				}
			}
			var in []int
			for i, set := range sets {
				if set.Has(step.Path) {
					in = append(in, i)
				}
			}
			if !slices.Equal(step.Sets, in) {
				x.Errorf("%v is in the sets %v, want %v", step.Path, step.Sets, in)
			}
			if got := byNumbers(x.live.Content(), step); !got.Same(step.Values[0]) {
				x.Errorf("the items %v of %v lead to %v, want %v", step.Items, step.Path, got, step.Values[0])
			}
			found += len(in)
		}
		if !slices.EqualFunc(paths, slices.Collect(s.All()), slices.Equal) {
			x.Errorf("the walk along\n%v\ngoes\n%v", s, paths)
		}
	})
	if found < 1000 {
		t.Errorf("only %d paths were found in sets", found)
	}
}

// lookup returns what v has at path, as a walk from the root finds it that looks at each item by itself.
func lookup(v typed.Value, path fieldpath.Path) value.Value {
	t, at := v.Type(), v.Content()
	for _, e := range path {
		next, found := value.Value{}, false
		switch l := t.List(); {
		case e.Kind() == fieldpath.KindField && t.Map() != nil:
			next = at.Get(e.Name())
			t, _ = t.Map().Lookup(e.Name())
			found = t != nil
		case e.Kind() == fieldpath.KindField || l == nil:
		default:
			n := 0
			for item := range at.Items() {
				if !found && isAt(l, item, n, e) {
					next, found = item, true
				}
				n++
			}
			t = l.Element()
		}
		if !found {
			return value.Value{}
		}
		at = next
	}
	return at
}

// isAt reports whether item number n of a list is what e selects.
func isAt(l *schema.List, item value.Value, n int, e fieldpath.Element) bool {
	switch {
	case e.Kind() == fieldpath.KindIndex:
		return e.Index() == n
	case e.Kind() == fieldpath.KindItem:
		return l.Topology() == schema.SetList && item.Equal(e.Value())
	case l.Topology() != schema.KeyedList:
		return false
	}
	var own []fieldpath.KeyField
	for _, k := range l.Keys() {
		if v := item.Get(k.Name); !v.IsAbsent() {
			own = append(own, fieldpath.KeyField{Name: k.Name, Value: v})
		} else if !k.Default.IsAbsent() {
			own = append(own, fieldpath.KeyField{Name: k.Name, Value: k.Default})
		}
	}
	return fieldpath.Key(own...) == e
}

// byNumbers returns what the names and item numbers of a step lead to.
func byNumbers(v value.Value, step typed.Step) value.Value {
	for i, e := range step.Path {
		switch {
		case e.Kind() == fieldpath.KindField:
			v = v.Get(e.Name())
		case step.Items[i] < 0:
			return value.Value{}
		default:
			v = v.Item(step.Items[i])
		}
	}
	return v
}

// Without a type, items are found by what the path says of them.
func TestUntyped(t *testing.T) {
	content, err := value.Parse([]byte(`{"keyed":[{"a":1},{"a":1,"b":2},{"a":2,"c":3},{"a":1.0,"b":2},{"b":7}],
		"values":["x",1,"x",{"o":1}],"nested":[[{"k":null}]]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path  string
		want  string
		items string
	}{
		{`.keyed[a=1]`, `{"a":1}`, "[-1 0]"},
		{`.keyed[a=1,b=2]`, `{"a":1,"b":2}`, "[-1 1]"},
		{`.keyed[a=1,b=3]`, `{"a":1}`, "[-1 0]"}, // which may be 3 by default
		{`.keyed[a=5,b=7]`, `{"b":7}`, "[-1 4]"},
		{`.keyed[a=2].c`, `3`, "[-1 2 -1]"},
		{`.keyed[a=7]`, ``, "[-1 -1]"},
		{`.keyed[z=1]`, ``, "[-1 -1]"},
		{`.keyed[a=7].c`, ``, "[-1 -1 -1]"},
		{`.keyed[3].b`, `2`, "[-1 3 -1]"},
		{`.keyed[5]`, ``, "[-1 -1]"},
		{`.values[="x"]`, `"x"`, "[-1 0]"},
		{`.values[=1]`, `1`, "[-1 1]"},
		{`.values[={"o":1}].o`, `1`, "[-1 3 -1]"},
		{`.values[="y"]`, ``, "[-1 -1]"},
		{`.nested[0][k=null]`, `{"k":null}`, "[-1 0 0]"},
		{`.nested.x`, ``, "[-1 -1]"},
		{`.keyed[0][0]`, ``, "[-1 0 -1]"},
	} {
		path, err := fieldpath.ParsePath(c.path)
		if err != nil {
			t.Fatal(err)
		}
		for step := range typed.Walk(fieldpath.SetOf(path), []typed.Value{typed.Untyped(content)}) {
			if got := step.Values[0]; !got.IsAbsent() && got.String() != c.want || got.IsAbsent() && c.want != "" {
				t.Errorf("%s is %v, want %q", c.path, got, c.want)
			}
			if got := fmt.Sprint(step.Items); got != c.items {
				t.Errorf("%s has the items %s, want %s", c.path, got, c.items)
			}
		}
	}
}

// With a type, items are found by their identity or number, and fields are none.
func TestTypedItems(t *testing.T) {
	v := valueOf(t, typeOf(t, allParts), `{"list":[{"name":"a"},{"name":"b","value":3}],"s":["p","q"],"a":[7,8],"m":{"x":1}}`)
	for _, c := range []struct{ path, want, items string }{
		{`.list[name="b"].value`, `3`, "[-1 1 -1]"},
		{`.list[name="a"].value`, ``, "[-1 0 -1]"},
		{`.list[name="c"]`, ``, "[-1 -1]"},
		{`.list[1].value`, `3`, "[-1 1 -1]"},
		{`.list[2]`, ``, "[-1 -1]"},
		{`.s[="q"]`, `"q"`, "[-1 1]"},
		{`.s[0]`, `"p"`, "[-1 0]"},
		{`.a[0]`, `7`, "[-1 0]"},
		{`.a[1]`, `8`, "[-1 1]"},
		{`.a[2]`, ``, "[-1 -1]"},
		{`.a[-1]`, ``, "[-1 -1]"},
		{`.a[=7]`, ``, "[-1 -1]"},
		{`.m.x`, `1`, "[-1 -1]"},
		{`.m.y`, ``, "[-1 -1]"},
		{`.m[0]`, ``, "[-1 -1]"},
		{`.s.x`, ``, "[-1 -1]"},
	} {
		path, err := fieldpath.ParsePath(c.path)
		if err != nil {
			t.Fatal(err)
		}
		for step := range typed.Walk(fieldpath.SetOf(path), []typed.Value{v}) {
			if got := step.Values[0]; !got.IsAbsent() && got.String() != c.want || got.IsAbsent() && c.want != "" {
				t.Errorf("%s is %v, want %q", c.path, got, c.want)
			}
			if got := fmt.Sprint(step.Items); got != c.items {
				t.Errorf("%s has the items %s, want %s", c.path, got, c.items)
			}
		}
		for step := range typed.Walk(fieldpath.SetOf(path), nil) {
			for _, item := range step.Items {
				if item != -1 {
					t.Errorf("%s has the items %v in nothing", c.path, step.Items)
				}
			}
		}
	}
}

func TestWalkBreaks(t *testing.T) {
	v := listOf(t, 3)
	for n := range v.Fields().Len() {
		steps := 0
		for range typed.Walk(v.Fields(), []typed.Value{v}) {
			if steps++; steps > n {
				break
			}
		}
		if steps != n+1 {
			t.Errorf("%d steps, want %d", steps, n+1)
		}
	}
}

// TestWalkIsLinear counts the work of walks along lists of four sizes, beside sets of as many owners of one item each: four
// times as many items make four times the work.
func TestWalkIsLinear(t *testing.T) {
	count := func(n int) int {
		v := listOf(t, n)
		fields := v.Fields()
		var owners []fieldpath.Set
		for e := range below(fields, "list").Entries() {
			owners = append(owners, fieldpath.SetOf(fieldpath.Path{fieldpath.Field("list"), e.Element}))
		}
		steps := 0
		c := work.Record(func() {
			for range typed.Walk(fields, []typed.Value{v, v}, owners...) {
				steps++
			}
		})
		if steps != fields.Len() {
			t.Errorf("%d steps, want %d", steps, fields.Len())
		}
		return c.Nodes
	}
	one, four := count(500), count(2000)
	if one < 500 || four > 4*one+one/10 {
		t.Errorf("%d nodes for 500 items, %d for 2,000", one, four)
	}
}

// TestWalkFollowsSetsOnce counts the work of walks beside many sets that are few: those that are the same are followed once, the
// set of the walk not at all, and where one is in step with the walk, each of its elements is compared once or twice.
func TestWalkFollowsSetsOnce(t *testing.T) {
	v := listOf(t, 1000)
	fields := v.Fields()
	most := fields.Minus(fieldpath.SetOf(slices.Collect(fields.All())[500]))
	count := func(sets ...fieldpath.Set) work.Counts {
		return work.Record(func() {
			for step := range typed.Walk(fields, nil, sets...) {
				if n := len(step.Sets); n != len(sets) && n != 0 {
					t.Errorf("%v is in %d of %d sets", step.Path, n, len(sets))
				}
			}
		})
	}
	alone, beside := count(), count(most)
	if got := count(fields, fields); got != alone {
		t.Errorf("the work along the set itself is %v, and %v without", got, alone)
	}
	if got := count(most, most, most); got != beside {
		t.Errorf("the work along a set that is there three times is %v, and %v along one", got, beside)
	}
	if more := beside.Nodes - alone.Nodes; beside.Pairs < most.Len() || beside.Pairs > 2*more {
		t.Errorf("%d pairs of elements are compared to find %d", beside.Pairs, more)
	}
}

// listOf returns an object with a keyed list of n items.
func listOf(t *testing.T, n int) typed.Value {
	t.Helper()
	root := typeOf(t, `{"types":[{"name":"root","map":{"fields":[{"name":"list","type":{"list":{
		"elementRelationship":"associative","keys":["name"],"elementType":{"map":{"fields":[
			{"name":"name","type":{"scalar":"string"}},{"name":"value","type":{"scalar":"string"}}]}}}}}]}}]}`)
	items := make([]value.Value, n)
	for i := range items {
		items[i] = value.Object(value.Member{Name: "name", Value: value.String(fmt.Sprint("n", i))},
			value.Member{Name: "value", Value: value.String("x")})
	}
	v, err := typed.New(value.Object(value.Member{Name: "list", Value: value.List(items...)}), root)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// A walk inside a walk, along the same set, finds what one by itself finds: they share no memory.
func TestWalkInWalk(t *testing.T) {
	v := listOf(t, 5)
	s := v.Fields()
	alone := show(typed.Walk(s, []typed.Value{v}, s))
	for step := range typed.Walk(s, []typed.Value{v}, s) {
		before := fmt.Sprint(step)
		if inside := show(typed.Walk(s, []typed.Value{v}, s)); inside != alone {
			t.Fatalf("at %v, another walk finds\n%swant\n%s", step.Path, inside, alone)
		}
		if after := fmt.Sprint(step); after != before {
			t.Fatalf("another walk makes the step %s of %s", after, before)
		}
	}
}

// show returns what a walk finds.
func show(steps iter.Seq[typed.Step]) (out string) {
	for step := range steps {
		out += fmt.Sprintln(step)
	}
	return out
}

// A walk of a few fields allocates no memory, once there was one before.
func TestWalkAllocates(t *testing.T) {
	root := typeOf(t, lists)
	v := valueOf(t, root, `{"keyed":[{"k":"x","n":1}]}`)
	s := setOf(t, `.keyed[k="x"].n`)
	found := 0
	most := 2.0 // to cut the text of an element, and to say so much of the values
	if allocated := testing.AllocsPerRun(100, func() {
		for range typed.Walk(s, []typed.Value{v, v}) {
			found++
		}
	}); allocated > most && !race.Enabled {
		t.Errorf("%v allocations, want at most %v", allocated, most)
	}
	if found == 0 {
		t.Error("the walk finds nothing")
	}
}

// TestNoType gives values no type: none conforms, and what has none can be neither merged nor compared.
func TestNoType(t *testing.T) {
	for _, none := range []*schema.Type{nil, {}} {
		for _, v := range []value.Value{{}, value.Null(), value.Int(1), value.List(), value.Object()} {
			var errs typed.Errors
			if got, err := typed.New(v, none); !errors.As(err, &errs) || len(errs) != 1 || errs[0].Reason != typed.BadSchema || got.Type() != nil {
				t.Errorf("%v without a type is %v (%v)", v, got, err)
			}
		}
	}
	v, s := value.Object(value.Member{Name: "a", Value: value.Int(1)}), fieldpath.SetOf(fieldpath.Path{fieldpath.Field("a")})
	object, err := typed.New(v, schema.Deduced)
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []typed.Value{{}, typed.Untyped(v)} {
		for _, with := range []typed.Value{{}, typed.Untyped(v), object} {
			if got, err := typed.Merge(of, with); !errors.Is(err, typed.ErrTypes) {
				t.Errorf("%v merged with %v is %v (%v)", of, with, got, err)
			}
			if got, err := typed.Compare(with, of); !errors.Is(err, typed.ErrTypes) {
				t.Errorf("%v compared with %v is %v (%v)", with, of, got, err)
			}
		}
		if got := of.Remove(s); !got.Content().Same(of.Content()) {
			t.Errorf("%v without %v is %v", of, s, got)
		}
		if got := of.Extract(s); !got.Content().IsAbsent() || !of.Fields().IsEmpty() {
			t.Errorf("of %v, %v is extracted; its fields are %v", of, got, of.Fields())
		}
	}
}

// TestUntypedTakesTheFirst walks to a key of which no item has all fields: of those that lack some, the first in the list counts.
func TestUntypedTakesTheFirst(t *testing.T) {
	key := fieldpath.Path{fieldpath.Key(
		fieldpath.KeyField{Name: "port", Value: value.Int(80)}, fieldpath.KeyField{Name: "protocol", Value: value.String("TCP")},
	)}
	for text, want := range map[string]string{
		`[{"port":80,"a":1},{"protocol":"TCP","a":2}]`:                                    `{"a":1,"port":80}`,
		`[{"protocol":"TCP","a":2},{"port":80,"a":1}]`:                                    `{"a":2,"protocol":"TCP"}`,
		`[{"port":81},{"protocol":"TCP","a":2},{"port":80,"a":1}]`:                        `{"a":2,"protocol":"TCP"}`,
		`[{"port":80,"a":1},{"protocol":"TCP"},{"port":80,"protocol":"TCP","a":"whole"}]`: `{"a":"whole","port":80,"protocol":"TCP"}`,
	} {
		v, err := value.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		for step := range typed.Walk(fieldpath.SetOf(key), []typed.Value{typed.Untyped(v)}) {
			if got := step.Values[0].String(); got != want {
				t.Errorf("%s has %s, want %s", text, got, want)
			}
		}
	}
}
