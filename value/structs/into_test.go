package structs

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/deed-project/deed/value"
)

// checkInto fills two equal targets with one text, by Into and by encoding/json, and compares what
// they hold.
func checkInto(t *testing.T, text []byte, typ reflect.Type) {
	t.Helper()
	got, want := reflect.New(typ), reflect.New(typ)
	if err := json.Unmarshal(text, want.Interface()); err != nil {
		return // not what encoding/json itself could read back
	}
	if err := Into(mustParse(t, text), got.Interface()); err != nil {
		t.Errorf("%s into %v: %v", text, typ, err)
		return
	}
	gotText, err := json.Marshal(got.Interface())
	if err != nil {
		t.Fatal(err)
	}
	wantText, err := json.Marshal(want.Interface())
	if err != nil {
		t.Fatal(err)
	}
	if string(gotText) != string(wantText) {
		t.Errorf("%s into %v\n got %s\nwant %s", text, typ, gotText, wantText)
	}
}

func TestPodInto(t *testing.T) {
	var got, want pod
	if err := json.Unmarshal(podText(t), &want); err != nil {
		t.Fatal(err)
	}
	if err := Into(mustParse(t, podText(t)), &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestCornersInto(t *testing.T) {
	seeded(t, 3000, func(t *testing.T, r *rand.Rand) {
		typ := pick(r, cornerTypes...)
		x := reflect.New(typ)
		populate(r, x.Elem(), 6)
		checkInto(t, checkFrom(t, x.Interface()).AppendJSON(nil), typ)
	})
}

func TestRandomStructsInto(t *testing.T) {
	seeded(t, 1000, func(t *testing.T, r *rand.Rand) {
		typ := randomStruct(r, 3)
		x := reflect.New(typ)
		populate(r, x.Elem(), 6)
		checkInto(t, checkFrom(t, x.Interface()).AppendJSON(nil), typ)
	})
}

// TestIntoWrong fills fields with values that were made for others: both must refuse, or both take
// the same.
func TestIntoWrong(t *testing.T) {
	types := cornerTypes
	for _, text := range []string{
		`null`, `true`, `0`, `1`, `-1`, `1.5`, `300`, `1e3`, `70000`, `5000000000`, `9007199254740991`, `9223372036854775808`,
		`1e30`, `1e300`, `""`, `"x"`, `"1"`, `"-2.5"`, `"true"`, `"null"`, `"\"x\""`, `"AQID"`, `"AQI"`, `"t:x"`, `"2024-05-14T09:26:53Z"`,
		`[]`, `[1]`, `[1,2,3,4]`, `["x"]`, `[null]`, `{}`, `{"1":1}`, `{"1":null}`, `{"x":"y"}`, `{"t:x":5}`, `{"300":"y"}`, `{"-1":true}`,
	} {
		for _, typ := range types {
			if typ.Kind() != reflect.Struct {
				checkVerdict(t, text, typ)
				continue
			}
			for _, f := range fieldsOf(typ) {
				checkVerdict(t, string(value.Object(value.Member{Name: f.name, Value: mustParse(t, []byte(text))}).AppendJSON(nil)), typ)
			}
		}
	}
}

// laxer lists what encoding/json takes for a json.Number with the tag option "string" though it is
// no number.
var laxer = map[string]bool{`{"i":"2024-05-14T09:26:53Z"}`: true}

// checkVerdict checks that Into takes the canonical text exactly when encoding/json does, and makes
// the same of it.
func checkVerdict(t *testing.T, text string, typ reflect.Type) {
	t.Helper()
	if laxer[text] && typ == reflect.TypeFor[quoted]() {
		return
	}
	v := mustParse(t, []byte(text))
	wantErr := json.Unmarshal(v.AppendJSON(nil), reflect.New(typ).Interface())
	if err := Into(v, reflect.New(typ).Interface()); (err == nil) != (wantErr == nil) {
		t.Errorf("%s into %v: error %v, want %v", text, typ, err, wantErr)
		return
	}
	checkInto(t, v.AppendJSON(nil), typ)
}

// TestIntoFilled fills targets that hold something already.
func TestIntoFilled(t *testing.T) {
	type inner struct{ A, B int }
	type target struct {
		Kept  int
		Inner inner
		Ptr   *inner
		Nil   *inner
		Map   map[string]int
		Slice []inner
		Array [3]int
		Any   any
		In    any
		V     value.Value
		Drop  []int
		Unset map[string]int
	}
	shared := &inner{7, 8}
	held := []inner{{1, 2}, {3, 4}}
	x := target{
		Kept: 1, Inner: inner{1, 2}, Ptr: shared, Map: map[string]int{"a": 1, "b": 2}, Slice: held, Array: [3]int{1, 2, 3},
		Any: "before", In: &inner{5, 6}, V: value.Int(1), Drop: []int{1}, Unset: map[string]int{"a": 1},
	}
	v := mustParse(t, []byte(`{"Inner":{"B":9},"Ptr":{"A":9},"Map":{"b":9,"c":9},"Slice":[{"A":9}],"Array":[9],"Any":{"x":[1,1.5]},
		"In":{"A":9},"V":[1],"Drop":null,"Unset":null,"unknown":{"deep":[1]},"kept":2}`))
	if err := Into(v, &x); err != nil {
		t.Fatal(err)
	}
	want := target{
		Kept: 1, Inner: inner{1, 9}, Ptr: &inner{9, 8}, Map: map[string]int{"a": 1, "b": 9, "c": 9}, Slice: []inner{{A: 9}},
		Array: [3]int{9, 0, 0}, Any: map[string]any{"x": []any{int64(1), 1.5}}, In: &inner{9, 6},
	}
	if x.V.String() != "[1]" {
		t.Errorf("the value is %v", x.V)
	}
	x.V = value.Value{}
	if !reflect.DeepEqual(x, want) {
		t.Errorf("got  %+v\nwant %+v", x, want)
	}
	if x.Ptr != shared || held[0] != (inner{1, 2}) {
		t.Error("a pointer was replaced, or a slice overwritten")
	}
	if err := Into(value.Value{}, &x); err != nil || !reflect.DeepEqual(x, want) {
		t.Errorf("the absent value changes its target: %+v (%v)", x, err)
	}
}

// TestIntoNull fills targets that hold something with null: pointers, interfaces, maps and slices become nil, as by encoding/json,
// and all else stays.
func TestIntoNull(t *testing.T) {
	type inner struct{ A, B int }
	type target struct {
		Bool    bool
		Int     int
		Uint    uint8
		Float   float64
		String  string
		Number  json.Number
		Array   [2]int
		Struct  inner
		Bytes   []byte
		Slice   []int
		Strings map[string]string
		Map     map[string]int
		Ptr     *int
		Any     any
		In      any
		InIn    any
	}
	filled := func() *target {
		one := 1
		pointer := &one
		return &target{
			true, 1, 2, 3.5, "s", "4", [2]int{5, 6}, inner{7, 8}, []byte("b"), []int{9}, map[string]string{"a": "b"}, map[string]int{"c": 10},
			pointer, "any", &one, &pointer,
		}
	}
	var text []string
	for i := range reflect.TypeFor[target]().NumField() {
		text = append(text, `"`+reflect.TypeFor[target]().Field(i).Name+`":null`)
	}
	all := []byte("{" + strings.Join(text, ",") + "}")
	got, want := filled(), filled()
	if err := errors.Join(Into(mustParse(t, all), got), json.Unmarshal(all, want)); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// TestIntoCopies: filling a target twice from one value makes two targets that share nothing that
// can be modified.
func TestIntoCopies(t *testing.T) {
	v := mustParse(t, []byte(`{"a":[1,2],"b":{"c":"d"}}`))
	var x, y map[string]any
	if err := errors.Join(Into(v, &x), Into(v, &y)); err != nil {
		t.Fatal(err)
	}
	x["a"].([]any)[0] = "changed"
	if !reflect.DeepEqual(y, v.ToAny()) {
		t.Errorf("got %v", y)
	}
}

func TestIntoErrors(t *testing.T) {
	type target struct {
		Int8    int8                 `json:"int8"`
		Uint    uint                 `json:"uint"`
		Float32 float32              `json:"float32"`
		Bool    bool                 `json:"bool"`
		Text    string               `json:"text"`
		Number  json.Number          `json:"number"`
		Bytes   []byte               `json:"bytes"`
		Items   []*target            `json:"items"`
		Map     map[int8]int         `json:"map"`
		Quoted  int                  `json:"quoted,string"`
		When    timestamp            `json:"when"`
		Textual textual              `json:"textual"`
		Texts   map[textual]int      `json:"texts"`
		Writer  interface{ Write() } `json:"writer"`
		Chan    chan int             `json:"chan"`
		Array   [1]int               `json:"array"`
		*unreachable
	}
	for _, test := range []struct{ text, path, reason string }{
		{`{"int8":128}`, ".int8", "number 128 does not fit Go type int8"},
		{`{"int8":1.5}`, ".int8", "number 1.5 does not fit Go type int8"},
		{`{"int8":1e30}`, ".int8", "number 1e+30 does not fit Go type int8"},
		{`{"uint":-1}`, ".uint", "number -1 does not fit Go type uint"},
		{`{"float32":1e39}`, ".float32", "number 1e+39 does not fit Go type float32"},
		{`{"bool":"true"}`, ".bool", "string does not fit Go type bool"},
		{`{"text":1}`, ".text", "number 1 does not fit Go type string"},
		{`{"number":"x"}`, ".number", "string does not fit Go type json.Number"},
		{`{"bytes":"*"}`, ".bytes", "string is not base64"},
		{`{"bytes":[256]}`, ".bytes[0]", "number 256 does not fit Go type uint8"},
		{`{"items":[{},{"items":[{"bool":[]}]}]}`, ".items[1].items[0].bool", "list does not fit Go type bool"},
		{`{"items":{}}`, ".items", "object does not fit Go type []*structs.target"},
		{`{"map":{"x":1}}`, ".map.x", `name "x" does not fit Go type int8, the type of the map's keys`},
		{`{"map":{"1":true}}`, ".map.1", "bool does not fit Go type int"},
		{`{"quoted":1}`, ".quoted", "1 does not hold the JSON text of a value of Go type int in a string"},
		{`{"quoted":"[]"}`, ".quoted", `"[]" does not hold the JSON text of a value of Go type int in a string`},
		{`{"when":"x"}`, ".when", "UnmarshalJSON of Go type structs.timestamp"},
		{`{"textual":"x"}`, ".textual", "UnmarshalText of Go type structs.textual"},
		{`{"textual":1}`, ".textual", "number 1 does not fit Go type structs.textual"},
		{`{"texts":{"x":1}}`, ".texts.x", "UnmarshalText of Go type structs.textual"},
		{`{"writer":{}}`, ".writer", "object does not fit Go type interface { Write() }"},
		{`{"chan":1}`, ".chan", "number 1 does not fit Go type chan int"},
		{`{"array":""}`, ".array", "string does not fit Go type [1]int"},
		{`{"inside":1}`, ".inside", "an embedded pointer to the unexported Go type structs.unreachable cannot be set"},
		{`[]`, "", "list does not fit Go type structs.target"},
		{`"x"`, "", "string does not fit Go type structs.target"},
	} {
		err := Into(mustParse(t, []byte(test.text)), new(target))
		checkConversionError(t, err, test.path, test.reason)
	}
}

type unreachable struct {
	Inside int `json:"inside"`
}

func TestIntoBadTargets(t *testing.T) {
	var endless loop
	for _, test := range []struct {
		target any
		reason string
	}{
		{nil, "only what a pointer points to can be filled, not a target of Go type <nil>"},
		{pod{}, "only what a pointer points to can be filled, not a target of Go type structs.pod"},
		{(*pod)(nil), "only what a pointer points to can be filled, not a target of Go type *structs.pod"},
		{&endless, "number 1 does not fit Go type *structs.loop"},
	} {
		checkConversionError(t, Into(value.Int(1), test.target), "", test.reason)
	}
}

func TestIntoLargeFloats(t *testing.T) {
	var i int64
	if err := Into(value.Float(1<<62), &i); err != nil || i != 4611686018427388000 {
		t.Errorf("got %d (%v), want what the text of the float says", i, err)
	}
	if err := Into(value.Float(math.MaxInt64), &i); err == nil {
		t.Error("a float over the largest int64 fits an int64")
	}
}

// lower has names in lower case only: encoding/json would find the others whatever their case, and
// that is where [Into] differs from it.
type lower struct {
	Kind     string `json:"kind,omitempty"`
	Metadata struct {
		Labels map[string]string `json:"labels,omitempty"`
	} `json:"metadata"`
	Spec struct {
		Containers []struct {
			Name  string   `json:"name"`
			Args  []string `json:"args,omitempty"`
			Ports []struct {
				Host int32 `json:"host,omitempty"`
			} `json:"ports,omitempty"`
		} `json:"containers"`
		Paused   bool    `json:"paused,omitempty"`
		Priority *int32  `json:"priority,omitempty"`
		Weight   float64 `json:"weight,omitempty"`
		Strategy *struct {
			route   `json:",inline"`
			Seconds *int64 `json:"seconds,omitempty"`
		} `json:"strategy,omitempty"`
	} `json:"spec"`
}

// route is what a strategy of lower has inline.
type route struct {
	Path string `json:"path"`
}

// FuzzInto: what Into takes, encoding/json takes too, and makes the same of it; and From finds it
// again.
func FuzzInto(f *testing.F) {
	f.Add([]byte(`{"kind":"x","metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","args":["a"],"ports":[{"host":1.0}]}]}}`))
	f.Add([]byte(`{"spec":{"containers":null,"priority":3e0,"paused":true,"weight":0.5,"strategy":{"path":"/","seconds":7}}}`))
	f.Add([]byte(`{"spec":{"containers":[{"name":1}]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := value.Parse(text)
		if err != nil || strings.ContainsFunc(v.String(), func(r rune) bool { return unicode.IsUpper(r) || r > unicode.MaxASCII }) {
			return // encoding/json would find names by another case of their letters
		}
		var got, want lower
		text = v.AppendJSON(nil)
		gotErr, wantErr := Into(v, &got), json.Unmarshal(text, &want)
		if (gotErr == nil) != (wantErr == nil) {
			t.Fatalf("%s: error %v, want %v", text, gotErr, wantErr)
		}
		if gotErr == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%s\n got %+v\nwant %+v", text, got, want)
		}
		checkFrom(t, &got)
	})
}
