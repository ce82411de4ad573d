package value

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"testing"
)

func TestFromAny(t *testing.T) {
	shared := List(Int(1))
	for _, test := range []struct {
		any  any
		want string
		kind Kind
	}{
		{nil, "null", KindNull},
		{true, "true", KindBool},
		{"a<b", `"a\u003cb"`, KindString},
		{int(-1), "-1", KindInt}, {int8(-8), "-8", KindInt}, {int16(-16), "-16", KindInt}, {int32(-32), "-32", KindInt},
		{int64(math.MinInt64), "-9223372036854775808", KindInt},
		{uint(1), "1", KindInt}, {uint8(8), "8", KindInt}, {uint16(16), "16", KindInt}, {uint32(math.MaxUint32), "4294967295", KindInt},
		{uint(math.MaxInt), strconv.Itoa(math.MaxInt), KindInt},
		{1.0, "1", KindFloat}, {0.1, "0.1", KindFloat}, {float32(0.1), "0.1", KindFloat},
		{[]any{}, "[]", KindList}, {[]any(nil), "[]", KindList}, {map[string]any{}, "{}", KindObject}, {map[string]any(nil), "{}", KindObject},
		{[]any{nil, []any{shared}}, "[null,[[1]]]", KindList},
		{map[string]any{"b": 1, "": 0, "a": map[string]any{"c": "d"}}, `{"":0,"a":{"c":"d"},"b":1}`, KindObject},
		{[]string{"b", "a"}, `["b","a"]`, KindList}, {[]string(nil), "[]", KindList},
		{map[string]string{"b": "1", "": "0", "a": "<"}, `{"":"0","a":"\u003c","b":"1"}`, KindObject}, {map[string]string(nil), "{}", KindObject},
		{map[string]any{"l": map[string]string{"b": "c"}, "f": []string{"x"}}, `{"f":["x"],"l":{"b":"c"}}`, KindObject},
		{shared, "[1]", KindList}, {Value{}, "null", KindNull}, {[]any{Value{}}, "[null]", KindList},
	} {
		v, err := FromAny(test.any)
		if err != nil || v.String() != test.want || v.Kind() != test.kind {
			t.Errorf("FromAny(%#v) = %v %v (%v), want %v %s", test.any, v.Kind(), v, err, test.kind, test.want)
		}
	}
}

// TestFromAnyItems converts lists and maps of maps that have many names in common, in any order and
// number: none may get another's.
func TestFromAnyItems(t *testing.T) {
	seeded(t, 500, func(t *testing.T, r *rand.Rand) {
		var items []any
		var want []Value
		for i := range r.IntN(26) {
			item, members := map[string]any{}, []Member(nil)
			for _, name := range []string{"a", "b", "c", "d", "e"} {
				if r.IntN(5) > 0 {
					item[name] = []any{int64(i), map[string]any{name: name}}
					members = append(members, Member{name, List(Int(int64(i)), Object(Member{name, String(name)}))})
				}
			}
			items, want = append(items, item), append(want, Object(members...))
		}
		if got, err := FromAny(items); err != nil || got.String() != List(want...).String() {
			t.Errorf("got %v (error %v), want %v", got, err, List(want...))
		}
		named, members := map[string]any{}, []Member(nil)
		for i, item := range items {
			name := string(rune('a' + i))
			named[name], members = item, append(members, Member{name, want[i]})
		}
		if got, err := FromAny(named); err != nil || got.String() != Object(members...).String() {
			t.Errorf("got %v (error %v), want %v", got, err, Object(members...))
		}
	})
}

func TestFromAnyErrors(t *testing.T) {
	deep := any(nil)
	for range MaxDepth + 1 {
		deep = []any{deep}
	}
	cycle := map[string]any{}
	cycle["a"] = cycle
	type named string
	for _, test := range []struct {
		any          any
		path, reason string
	}{
		{uint64(1), "", "a value of Go type uint64 is no JSON value"},
		{math.NaN(), "", "JSON has no number NaN"},
		{math.Inf(-1), "", "JSON has no number -Inf"},
		{float32(math.Inf(1)), "", "JSON has no number +Inf"},
		{named("x"), "", "a value of Go type value.named is no JSON value"},
		{map[string]any{"spec": map[string]any{"ports": []any{nil, struct{}{}}}}, ".spec.ports[1]", "a value of Go type struct {} is no JSON value"},
		{map[any]any{}, "", "a value of Go type map[interface {}]interface {} is no JSON value"},
		{[]int{1}, "", "a value of Go type []int is no JSON value"},
		{deep, "", "nested deeper than 10000"},
		{cycle, "", "nested deeper than 10000"},
	} {
		_, err := FromAny(test.any)
		checkConversionError(t, err, test.path, test.reason)
	}
}

// checkConversionError compares an error with what is wanted; where nesting is the reason, the path
// is too long to write.
func checkConversionError(t *testing.T, err error, path, reason string) {
	t.Helper()
	var at *ConversionError
	if !errors.As(err, &at) {
		t.Errorf("error %v, want %s: %s", err, path, reason)
		return
	}
	if reason == "nested deeper than 10000" && len(at.Path) > MaxDepth {
		path = at.Path
	}
	if at.Path != path || at.Reason != reason {
		t.Errorf("error %.80s: %s\nwant  %s: %s", at.Path, at.Reason, path, reason)
	}
}

func TestAnyRoundTrip(t *testing.T) {
	seeded(t, 1000, func(t *testing.T, r *rand.Rand) {
		v := randomValue(r, 4)
		held := v.ToAny()
		back, err := FromAny(held)
		if err != nil || !back.Equal(v) {
			t.Fatalf("%v comes back as %v (%v)", v, back, err)
		}
		if !reflect.DeepEqual(back.ToAny(), held) {
			t.Errorf("%v: the second conversion differs from the first", v)
		}
	})
}

// TestToAnyIsNew: what ToAny returns may be modified.
func TestToAnyIsNew(t *testing.T) {
	v := mustParse(t, []byte(`{"a":[1,{"b":2}]}`))
	held := v.ToAny().(map[string]any)
	held["a"].([]any)[1].(map[string]any)["b"] = "changed"
	held["a"].([]any)[0] = nil
	delete(held, "a")
	if got, want := v.String(), `{"a":[1,{"b":2}]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if (Value{}).ToAny() != nil {
		t.Error("the absent value is something")
	}
}

// TestTexts reads maps and slices of strings, after what they were before and after something else.
func TestTexts(t *testing.T) {
	object := func(labels map[string]string, finalizers []string) map[string]any {
		return map[string]any{"finalizers": finalizers, "labels": labels}
	}
	var d Decoder
	read := func(v any) Value {
		t.Helper()
		got, err := d.FromAny(v)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	first := read(object(map[string]string{"app": "web", "tier": "front"}, []string{"a", "b"}))
	if second := read(object(map[string]string{"tier": "front", "app": "web"}, []string{"a", "b"})); !second.Same(first) {
		t.Error("an object that did not change is made anew")
	}
	third := read(object(map[string]string{"app": "db", "tier": "front"}, []string{"a", "b"}))
	if third.String() != `{"finalizers":["a","b"],"labels":{"app":"db","tier":"front"}}` || !third.Get("finalizers").Same(first.Get("finalizers")) {
		t.Errorf("got %v, which shares its finalizers: %v", third, third.Get("finalizers").Same(first.Get("finalizers")))
	}
	for _, shorter := range []any{object(map[string]string{"app": "db"}, []string{"a"}), object(nil, nil), object(map[string]string{"app": "x"}, []string{"b", "a"})} {
		got, want := read(shorter), Value{}
		want, _ = FromAny(shorter)
		if got.String() != want.String() {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	deep := any(map[string]string{})
	for range MaxDepth {
		deep = []any{deep}
	}
	if _, err := FromAny(deep); err == nil {
		t.Errorf("a map of strings inside of %d lists is no error", MaxDepth)
	}
}
