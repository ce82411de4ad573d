package structs

import (
	"encoding"
	"encoding/json"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/deed-project/deed/value"
)

// TestPodFromGo takes a document through a Go struct in all directions: each must agree with
// encoding/json.
func TestPodFrom(t *testing.T) {
	var p pod
	if err := json.Unmarshal(podText(t), &p); err != nil {
		t.Fatal(err)
	}
	checkFrom(t, &p)
	checkFrom(t, p)
}

// checkFromGo fails the test unless From(x) is what Parse makes of encoding/json's text for x, and
// returns that.
func checkFrom(t *testing.T, x any) value.Value {
	t.Helper()
	text, err := json.Marshal(x)
	if err != nil {
		t.Fatalf("encoding/json refuses %#v: %v", x, err)
	}
	want := mustParse(t, text)
	got, err := From(x)
	if err != nil {
		t.Errorf("From(%#v): %v", x, err)
	} else if !got.Equal(want) {
		t.Errorf("From(%#v)\n got %v\nwant %v", x, got, want)
	}
	return want
}

func TestCornersFrom(t *testing.T) {
	for _, typ := range cornerTypes {
		checkFrom(t, reflect.New(typ).Interface())
		checkFrom(t, reflect.New(typ).Elem().Interface())
	}
	seeded(t, 3000, func(t *testing.T, r *rand.Rand) {
		x := reflect.New(pick(r, cornerTypes...))
		populate(r, x.Elem(), 6)
		checkFrom(t, x.Interface())
		checkFrom(t, x.Elem().Interface())
	})
}

func TestRandomStructsFrom(t *testing.T) {
	seeded(t, 1000, func(t *testing.T, r *rand.Rand) {
		typ := randomStruct(r, 3)
		for range 5 {
			x := reflect.New(typ)
			populate(r, x.Elem(), 6)
			checkFrom(t, x.Interface())
			checkFrom(t, x.Elem().Interface())
		}
	})
}

func TestFromAnyForms(t *testing.T) {
	shared := value.List(value.Int(1))
	type in struct {
		Any any `json:"any"`
	}
	for _, x := range []any{
		map[*textual]bool{nil: true, {"a"}: false}, nil, true, "s", 7, int8(7), uint(7), 2.5, float32(0.1), []any(nil), map[string]any(nil), shared, &shared, (*value.Value)(nil),
		[]any{map[string]any{"b": int32(1), "a": in{shared}}}, map[string]any{"x": []in{{1}, {nil}, {[]string{"y"}}}},
	} {
		checkFrom(t, x)
		checkFrom(t, in{x})
		checkFrom(t, &x)
	}
	if v, err := From(value.Value{}); err != nil || !v.IsNull() {
		t.Errorf("FromGo of the absent value is %v (%v)", v, err)
	}
	if v, err := From(in{shared}); err != nil || !v.Get("any").Same(shared) {
		t.Errorf("a value inside a struct is copied: %v (%v)", v, err)
	}
}

func TestFromKeepsBytes(t *testing.T) {
	v, err := From([]string{"\xff"})
	if err != nil || v.Item(0).Str() != "\xff" {
		t.Errorf("got %q (%v)", v.Item(0).Str(), err)
	}
}

type (
	loop       *loop
	deepList   []deepList
	deepMap    map[string]deepMap
	deepStruct struct{ In []any }
	failing    struct{}
	garbage    string
	brokenTx   struct{}
	sameText   int
)

func (failing) MarshalJSON() ([]byte, error)   { return nil, io.ErrUnexpectedEOF }
func (g garbage) MarshalJSON() ([]byte, error) { return []byte(g), nil }
func (brokenTx) MarshalText() ([]byte, error)  { return nil, io.ErrShortBuffer }
func (sameText) MarshalText() ([]byte, error)  { return []byte("same"), nil }

func TestFromErrors(t *testing.T) {
	type node struct {
		Next *node `json:"next"`
	}
	cycle := &node{}
	cycle.Next = cycle
	list := make([]any, 1)
	list[0] = list
	var self any
	self = &self
	var endless loop
	endless = &endless
	lists := deepList{nil}
	lists[0] = lists
	maps := deepMap{}
	maps["a"] = maps
	structs := &deepStruct{}
	structs.In = []any{structs}
	type in struct {
		List []any `json:"list"`
	}
	for _, test := range []struct {
		x            any
		path, reason string
		cause        error
	}{
		{in{[]any{1, make(chan int)}}, ".list[1]", "a value of Go type chan int is no JSON value", nil},
		{struct{ F func() }{}, ".F", "a value of Go type func() is no JSON value", nil},
		{struct {
			F func() `json:",omitempty"`
		}{}, ".F", "a value of Go type func() is no JSON value", nil},
		{complex(1, 2), "", "a value of Go type complex128 is no JSON value", nil},
		{map[bool]int(nil), "", "a value of Go type map[bool]int is no JSON value", nil},
		{map[string]uint64{"a": math.MaxInt64 + 1}, ".a", "9223372036854775808 is larger than an int64", nil},
		{[]float32{float32(math.Inf(1))}, "[0]", "JSON has no number +Inf", nil},
		{[]json.Number{"01"}, "[0]", `"01" is no JSON number`, nil},
		{json.Number("1 "), "", `"1 " is no JSON number`, nil},
		{json.Number("x"), "", `"x" is no JSON number`, nil},
		{map[sameText]int{1: 1, 2: 2}, "", `two keys of Go type structs.sameText print as "same"`, nil},
		{map[brokenTx]int{{}: 1}, "", "MarshalText of Go type structs.brokenTx", io.ErrShortBuffer},
		{[]brokenTx{{}}, "[0]", "MarshalText of Go type structs.brokenTx", io.ErrShortBuffer},
		{in{[]any{failing{}}}, ".list[0]", "MarshalJSON of Go type structs.failing", io.ErrUnexpectedEOF},
		{garbage(`{"a":1} 2`), "", "MarshalJSON of Go type structs.garbage", nil},
		{garbage(`"a" 2`), "", "MarshalJSON of Go type structs.garbage", nil},
		{garbage(`1 2`), "", "MarshalJSON of Go type structs.garbage", nil},
		{garbage(`{"a":1,"a":1}`), "", "MarshalJSON of Go type structs.garbage", nil},
		{[]converted{{-1}}, "[0]", "ToUnstructuredWithError of Go type structs.converted", nil},
		{cycle, "", "nested deeper than 10000", nil},
		{list, "", "nested deeper than 10000", nil},
		{lists, "", "nested deeper than 10000", nil},
		{maps, "", "nested deeper than 10000", nil},
		{structs, "", "nested deeper than 10000", nil},
		{map[encoding.TextMarshaler]int{nil: 1}, "", "a key of Go type encoding.TextMarshaler is nil", nil},
		{self, "", "nested deeper than 10000", nil},
		{endless, "", "a value of Go type structs.loop is no JSON value", nil},
	} {
		_, err := From(test.x)
		checkConversionError(t, err, test.path, test.reason)
		if test.cause != nil && !errors.Is(err, test.cause) {
			t.Errorf("the cause of %v is not %v", err, test.cause)
		}
	}
}

func TestConversionErrorText(t *testing.T) {
	_, err := From(map[string]any{"a": failing{}})
	if got, want := err.Error(), ".a: MarshalJSON of Go type structs.failing: unexpected EOF"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	_, err = From(math.NaN())
	if got, want := err.Error(), "JSON has no number NaN"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
