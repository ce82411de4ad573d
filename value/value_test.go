package value

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestKindString(t *testing.T) {
	want := []string{"absent", "null", "bool", "int", "float", "string", "list", "object"}
	for k := KindAbsent; k <= KindObject; k++ {
		if got := k.String(); got != want[k] {
			t.Errorf("kind %d is called %s, want %s", k, got, want[k])
		}
	}
}

// TestAccessors asks each kind of value everything: what it is not is the zero of the answer.
func TestAccessors(t *testing.T) {
	type answers struct {
		kind         Kind
		absent, null bool
		boolean      bool
		integer      int64
		float        float64
		str          string
		length       int
		printed      string
	}
	for _, test := range []struct {
		v    Value
		want answers
	}{
		{Value{}, answers{kind: KindAbsent, absent: true, printed: "absent"}},
		{Null(), answers{kind: KindNull, null: true, printed: "null"}},
		{Bool(false), answers{kind: KindBool, printed: "false"}},
		{Bool(true), answers{kind: KindBool, boolean: true, printed: "true"}},
		{Int(0), answers{kind: KindInt, printed: "0"}},
		{Int(-7), answers{kind: KindInt, integer: -7, float: -7, printed: "-7"}},
		{Int(math.MinInt64), answers{kind: KindInt, integer: math.MinInt64, float: -1 << 63, printed: "-9223372036854775808"}},
		{Float(0), answers{kind: KindFloat, printed: "0"}},
		{Float(2.5), answers{kind: KindFloat, float: 2.5, printed: "2.5"}},
		{String(""), answers{kind: KindString, printed: `""`}},
		{String("abc"), answers{kind: KindString, str: "abc", printed: `"abc"`}},
		{List(), answers{kind: KindList, printed: "[]"}},
		{List(Null(), Int(1)), answers{kind: KindList, length: 2, printed: "[null,1]"}},
		{Object(), answers{kind: KindObject, printed: "{}"}},
		{Object(Member{"a", Int(1)}), answers{kind: KindObject, length: 1, printed: `{"a":1}`}},
	} {
		v := test.v
		got := answers{v.Kind(), v.IsAbsent(), v.IsNull(), v.Bool(), v.Int(), v.Float(), v.Str(), v.Len(), v.String()}
		if got != test.want {
			t.Errorf("%v answers %+v, want %+v", v, got, test.want)
		}
	}
}

func TestFloatPanics(t *testing.T) {
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		checkPanic(t, "value: Float of a number that JSON cannot express", func() { Float(f) })
	}
}

// TestNoSuchPart asks for items and members that are not there: they are absent.
func TestNoSuchPart(t *testing.T) {
	list, object := List(String("a")), Object(Member{"a", Int(1)})
	for _, i := range []int{-1, 1, math.MaxInt, math.MinInt} {
		for _, v := range []Value{{}, Null(), String("ab"), Int(7), list, object} {
			if item, member := v.Item(i), v.Member(i); !item.IsAbsent() || member.Name != "" || !member.Value.IsAbsent() {
				t.Errorf("%v: item %d is %v, member %v", v, i, item, member)
			}
		}
	}
	if item, member := object.Item(0), list.Member(0); !item.IsAbsent() || !member.Value.IsAbsent() {
		t.Errorf("an object has the item %v, and a list the member %v", item, member)
	}
}

// TestAbsentParts makes containers of values some of which are absent.
func TestAbsentParts(t *testing.T) {
	if got := List(Value{}, Int(1), Value{}); got.String() != "[null,1,null]" || !got.Item(0).IsNull() {
		t.Errorf("got the list %v", got)
	}
	got := Object(Member{"c", Value{}}, Member{"b", Int(1)}, Member{"a", Value{}}, Member{"a", Null()}, Member{"c", Value{}})
	if want := Object(Member{"a", Null()}, Member{"b", Int(1)}); got.String() != want.String() || !got.Equal(want) {
		t.Errorf("got the object %v, want %v", got, want)
	}
	if empty := Object(Member{"a", Value{}}); !empty.Same(Object()) {
		t.Errorf("an object of nothing is %v", empty)
	}
}

func checkPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := fmt.Sprint(recover()); got != want {
			t.Errorf("panic %s, want %s", got, want)
		}
	}()
	f()
}

// TestObject sorts objects of every size from every kind of disorder.
func TestObject(t *testing.T) {
	for n := range 120 {
		for _, step := range []int{1, 7, 113, n - 1} {
			var members []Member
			for i := range n {
				at := i
				if step > 0 && n%step != 0 {
					at = i * step % n
				}
				members = append(members, Member{fmt.Sprintf("n%03d", at), Int(int64(at))})
			}
			seen := map[string]bool{}
			members = slices.DeleteFunc(members, func(m Member) bool { dup := seen[m.Name]; seen[m.Name] = true; return dup })
			got := slices.Clone(members)
			v := Object(got...)
			slices.SortFunc(members, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
			for i, m := range members {
				if v.Member(i).Name != m.Name || !v.Get(m.Name).Equal(m.Value) {
					t.Fatalf("of %d members in steps of %d, %d is %v", n, step, i, v.Member(i))
				}
			}
		}
	}
}

func TestObjectPanics(t *testing.T) {
	checkPanic(t, "value: Object with two members named a", func() { Object(Member{"a", Null()}, Member{"b", Null()}, Member{"a", Null()}) })
	checkPanic(t, "value: Object with two members named a", func() { Object(Member{"a", Null()}, Member{"a", Null()}) })
}

func TestGet(t *testing.T) {
	v := mustParse(t, []byte(`{"a":{"b":{"c":1}},"":2,"l":[{"b":3}],"n":null}`))
	for _, test := range []struct {
		names []string
		want  string
	}{
		{nil, v.String()}, {[]string{"a", "b", "c"}, "1"}, {[]string{"a", "b"}, `{"c":1}`}, {[]string{""}, "2"}, {[]string{"n"}, "null"},
		{[]string{"x"}, "absent"}, {[]string{"a", "x", "c"}, "absent"}, {[]string{"l", "b"}, "absent"}, {[]string{"n", "b"}, "absent"},
		{[]string{"a", "b", "c", "d"}, "absent"}, {[]string{"A"}, "absent"}, {[]string{"aa"}, "absent"},
	} {
		if got := v.Get(test.names...).String(); got != test.want {
			t.Errorf("Get(%q) = %s, want %s", test.names, got, test.want)
		}
	}
}

func TestWith(t *testing.T) {
	const before = `{"b":1,"d":{"x":null}}`
	v := mustParse(t, []byte(before))
	for _, test := range []struct {
		name   string
		member Value
		want   string
	}{
		{"a", Int(0), `{"a":0,"b":1,"d":{"x":null}}`},
		{"c", Null(), `{"b":1,"c":null,"d":{"x":null}}`},
		{"e", List(), `{"b":1,"d":{"x":null},"e":[]}`},
		{"b", Int(2), `{"b":2,"d":{"x":null}}`},
		{"b", Value{}, `{"d":{"x":null}}`},
		{"d", Value{}, `{"b":1}`},
		{"c", Value{}, before},
	} {
		if got := v.With(test.name, test.member).String(); got != test.want {
			t.Errorf("With(%s, %v) = %s, want %s", test.name, test.member, got, test.want)
		}
		if v.String() != before {
			t.Fatalf("With(%s, %v) changed its operand to %v", test.name, test.member, v)
		}
	}
	for _, same := range []Value{v.With("b", Int(1)), v.With("d", v.Get("d")), v.With("zz", Value{})} {
		if !same.Same(v) {
			t.Errorf("a change that changes nothing copies: %v", same)
		}
	}
	for _, start := range []Value{{}, Null(), List(Int(1)), Object()} {
		if got := start.With("a", Int(1)).String(); got != `{"a":1}` {
			t.Errorf("%v with a member is %s", start, got)
		}
		if got := start.With("a", Value{}).String(); got != `{}` {
			t.Errorf("%v without a member is %s", start, got)
		}
	}
	if got := v.With("b", Value{}).With("d", Value{}).String(); got != `{}` {
		t.Errorf("without its members, it is %s", got)
	}
}

// TestWithAll sets members at once, which gives what it gives to set them one after the other.
func TestWithAll(t *testing.T) {
	texts := []string{
		"absent", "null", "[1]", "{}", `{"a":1}`, `{"b":2}`, `{"c":3}`, `{"a":1,"b":2}`, `{"a":{},"c":[]}`, `{"a":0,"b":null,"c":3,"d":4}`,
	}
	for _, v := range texts {
		for _, w := range texts {
			var before, other Value
			if v != "absent" {
				before = mustParse(t, []byte(v))
			}
			if w != "absent" {
				other = mustParse(t, []byte(w))
			}
			want := before
			if want.Kind() != KindObject {
				want = Object()
			}
			if other.Kind() == KindObject {
				for name, member := range other.Members() {
					want = want.With(name, member)
				}
			}
			got := internal{}.WithAll(before, other)
			if !got.Equal(want) || got.Same(before) != want.Same(before) {
				t.Errorf("%s with %s is %v, want %v; the same: %t, want %t", v, w, got, want, got.Same(before), want.Same(before))
			}
		}
	}
}

func TestIterators(t *testing.T) {
	v := mustParse(t, []byte(`{"l":[1,2,3],"a":4}`))
	var names []string
	for name := range v.Members() {
		names = append(names, name)
	}
	if !slices.Equal(names, []string{"a", "l"}) {
		t.Errorf("members are %q", names)
	}
	sum := int64(0)
	for item := range v.Get("l").Items() {
		if sum += item.Int(); sum == 3 {
			break
		}
	}
	for range v.Members() {
		break
	}
	if sum != 3 {
		t.Errorf("a loop that ends after two items adds up to %d", sum)
	}
	for _, w := range []Value{{}, Null(), Int(1), String("abc"), v} {
		for item := range w.Items() {
			t.Errorf("%v has an item %v", w, item)
		}
	}
	for _, w := range []Value{{}, Null(), Int(1), String("abc"), List(Int(1))} {
		for name := range w.Members() {
			t.Errorf("%v has a member %s", w, name)
		}
	}
}

func TestSame(t *testing.T) {
	v := mustParse(t, []byte(`[{"a":1},{"a":1},"s","t"]`))
	if !v.Item(0).Same(v.Item(0)) || v.Item(0).Same(v.Item(1)) || v.Item(2).Same(v.Item(3)) {
		t.Error("storage is not what Same tells")
	}
	for _, scalar := range []func() Value{Null, func() Value { return Bool(true) }, func() Value { return Int(-3) }, func() Value { return Float(0.5) }} {
		if !scalar().Same(scalar()) {
			t.Errorf("two times %v are not the same", scalar())
		}
	}
	if Int(1).Same(Float(1)) || Bool(false).Same(Null()) || Null().Same(Value{}) || List().Same(Object()) {
		t.Error("values of two kinds are the same")
	}
}
