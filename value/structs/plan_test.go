package structs

//lint:file-ignore SA5008 some tags are wrong on purpose: what they do is under test
//lint:file-ignore U1000 some types and fields are there to be ignored

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"time"

	"github.com/deed-project/deed/value"
)

// Types whose fields and methods are the corners of encoding/json's rules. Each sample is checked
// in both directions.

type (
	renamed struct {
		Plain   int
		Tagged  int `json:"tagged"`
		Skipped int `json:"-"`
		Dash    int `json:"-,"`
		Empty   int `json:",omitempty"`
		Invalid int `json:"a\"b"`
		Odd     int `json:"a.b/c d"`
		hidden  int
		Unicode int `json:"größe"`
		Other   int `yaml:"other"`
		Unknown int `json:"unknown,inline,omitempty"`
	}
	omitting struct {
		A []int          `json:"a,omitempty"`
		B map[string]int `json:"b,omitempty"`
		C *int           `json:"c,omitempty"`
		D any            `json:"d,omitempty"`
		E string         `json:"e,omitempty"`
		F float64        `json:"f,omitempty"`
		G bool           `json:"g,omitempty"`
		H [0]int         `json:"h,omitempty"`
		I [2]int         `json:"i,omitempty"`
		J struct{}       `json:"j,omitempty"`
		K uint8          `json:"k,omitempty"`
		L time.Time      `json:"l,omitempty"`
		M value.Value    `json:"m,omitempty"`
	}
	omitZero struct {
		A []int       `json:"a,omitzero"`
		B struct{}    `json:"b,omitzero"`
		C time.Time   `json:"c,omitzero"`
		D *time.Time  `json:"d,omitzero"`
		E isZero      `json:"e,omitzero"`
		F ptrIsZero   `json:"f,omitzero"`
		G *ptrIsZero  `json:"g,omitzero"`
		H zeroer      `json:"h,omitzero"`
		I [2]int      `json:"i,omitzero"`
		J value.Value `json:"j,omitzero"`
		K string      `json:"k,omitempty,omitzero"`
	}
	isZero    struct{ N int }
	ptrIsZero struct{ N int }

	quoted struct {
		A int         `json:"a,string"`
		B bool        `json:"b,string"`
		C string      `json:"c,string"`
		D float64     `json:"d,string"`
		E *int        `json:"e,string"`
		F **int       `json:"f,string"`
		G []int       `json:"g,string"`
		H any         `json:"h,string"`
		I json.Number `json:"i,string"`
		J textual     `json:"j,string"`
		K uint8       `json:"k,string,omitempty"`
		L float32     `json:"l,string"`
	}

	embedding struct {
		innerA
		*InnerB
		innerC  `json:"named"`
		InnerD  `json:",inline"`
		strange // no struct: ignored
		Shown   // no struct, but exported
		json.Number
		Own int `json:"own"`
	}
	innerA struct {
		A     int `json:"a"`
		Twice int `json:"twice"`
		Deep  int `json:"deep"`
		Own   int `json:"own"`
		Tag   int
	}
	InnerB struct {
		B     int `json:"b"`
		Twice int `json:"twice"`
		Tag   int `json:"Tag"`
		Level2
	}
	innerC  struct{ C int }
	InnerD  struct{ D, Level int }
	Level2  struct{ Deep, Level, Level2 int }
	strange int
	Shown   string

	twice struct {
		First
		Second
	}
	First  struct{ Common }
	Second struct{ Common }
	Common struct{ C int }

	recursive struct {
		Name string      `json:"name"`
		Next *recursive  `json:"next,omitempty"`
		All  []recursive `json:"all,omitempty"`
		*recursive
	}

	keyed struct {
		A map[int8]string
		B map[uint16]bool
		C map[textual]int
		D map[Shown]int
		E map[string]quantity
		F map[string]*int
		G map[string]struct{ X int }
		I map[string]string
		J map[Shown]Shown
		K map[int]string
		L map[uintptr]bool
		M map[string]loud
		N map[loud]string
	}

	bytesOf struct {
		A []byte
		B [3]byte
		C []namedByte
		D []textByte
		E namedBytes
		F json.RawMessage
		G [][]byte
	}
	namedByte  byte
	namedBytes []byte
	textByte   byte

	methods struct {
		A textual
		B *textual
		C ptrTextual
		D *ptrTextual
		E map[string]ptrTextual
		F []ptrTextual
		G any
		H json.Marshaler
		I fmt.Stringer
		J both
		K time.Duration
		L timestamp
		M *timestamp
		N quantity
		O intOrString
		P converted
		Q map[string]converted
		R []*converted
		S loud
	}
	textual    struct{ text string }
	ptrTextual struct{ Text string }
	both       struct{ text string }
	converted  struct{ N int }
	loud       string // is printed by a method, and read without

	holding struct {
		V value.Value
		W []value.Value
		X map[string]any
		Y []any
		Z *value.Value
	}

	numbers struct {
		A int8
		B int16
		C int32
		D int64
		E uint8
		F uint16
		G uint32
		H uint64
		I uintptr
		J float32
		K float64
		L json.Number
		M *float32
	}
)

func (z isZero) IsZero() bool     { return z.N == 7 }
func (z *ptrIsZero) IsZero() bool { return z.N == 7 }

func (x textual) MarshalText() ([]byte, error) { return []byte("t:" + x.text), nil }
func (x *textual) UnmarshalText(text []byte) error {
	rest, ok := strings.CutPrefix(string(text), "t:")
	if !ok {
		return errors.New("no t:")
	}
	x.text = rest
	return nil
}

func (x *ptrTextual) MarshalText() ([]byte, error) { return []byte("p:" + x.Text), nil }
func (x *ptrTextual) UnmarshalText(text []byte) error {
	x.Text = strings.TrimPrefix(string(text), "p:")
	return nil
}

func (x loud) MarshalText() ([]byte, error) { return []byte(x + "!"), nil }

func (x both) MarshalText() ([]byte, error) { return []byte(x.text), nil }
func (x both) MarshalJSON() ([]byte, error) { return []byte(` { "both" : [1 , 2.50] } `), nil }

func (b textByte) MarshalText() ([]byte, error) { return []byte{'0' + byte(b)%10}, nil }

func (c converted) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, `{"n":%d}`, c.N), nil }
func (c converted) ToUnstructuredWithError() (any, error) {
	if c.N < 0 {
		return nil, errors.New("negative")
	}
	return map[string]any{"n": c.N}, nil
}
func (c *converted) UnmarshalJSON(text []byte) error {
	_, err := fmt.Sscanf(string(text), `{"n":%d}`, &c.N)
	return err
}

// cornerTypes lists the types above, and a few without a name.
var cornerTypes = []reflect.Type{
	reflect.TypeFor[renamed](), reflect.TypeFor[omitting](), reflect.TypeFor[omitZero](), reflect.TypeFor[quoted](),
	reflect.TypeFor[embedding](), reflect.TypeFor[twice](), reflect.TypeFor[recursive](), reflect.TypeFor[keyed](),
	reflect.TypeFor[bytesOf](), reflect.TypeFor[methods](), reflect.TypeFor[holding](), reflect.TypeFor[numbers](),
	reflect.TypeFor[pod](), reflect.TypeFor[struct{ ptrTextual }](), reflect.TypeFor[struct{ isZero }](),
	reflect.TypeFor[map[string]any](), reflect.TypeFor[[]any](), reflect.TypeFor[any](), reflect.TypeFor[**int](),
}

// randomStruct makes a struct type with random fields and tags.
func randomStruct(r *rand.Rand, depth int) reflect.Type {
	fields := make([]reflect.StructField, r.IntN(6))
	for i := range fields {
		tag := pick(r, "", "-", "-,", "a", "b", "c.d", "e", "x,", `\"`)
		for _, option := range []string{",omitempty", ",omitzero", ",string", ",inline"} {
			if r.IntN(4) == 0 {
				tag += option
			}
		}
		fields[i] = reflect.StructField{
			Name: fmt.Sprintf("F%d", i),
			Type: randomType(r, depth-1),
			Tag:  reflect.StructTag(`json:"` + tag + `"`),
		}
	}
	return reflect.StructOf(fields)
}

func randomType(r *rand.Rand, depth int) reflect.Type {
	if depth > 0 {
		switch r.IntN(8) {
		case 0, 1:
			return randomStruct(r, depth)
		case 2:
			return reflect.PointerTo(randomType(r, depth-1))
		case 3:
			return reflect.SliceOf(randomType(r, depth-1))
		case 4:
			return reflect.ArrayOf(r.IntN(3), randomType(r, depth-1))
		case 5:
			key := pick(r, reflect.TypeFor[string](), reflect.TypeFor[int8](), reflect.TypeFor[uint](), reflect.TypeFor[textual]())
			return reflect.MapOf(key, randomType(r, depth-1))
		case 6:
			return pick(r, cornerTypes...)
		}
	}
	return pick(r, reflect.TypeFor[bool](), reflect.TypeFor[int](), reflect.TypeFor[int8](), reflect.TypeFor[uint16](),
		reflect.TypeFor[float32](), reflect.TypeFor[float64](), reflect.TypeFor[string](), reflect.TypeFor[[]byte](),
		reflect.TypeFor[json.Number](), reflect.TypeFor[timestamp](), reflect.TypeFor[quantity](), reflect.TypeFor[intOrString](),
		reflect.TypeFor[textual](), reflect.TypeFor[ptrTextual](), reflect.TypeFor[converted](), reflect.TypeFor[value.Value]())
}

// populate sets v, of which JSON is to be able to say all, to something random.
func populate(r *rand.Rand, v reflect.Value, depth int) {
	if r.IntN(4) == 0 {
		return // zero
	}
	if populateKnown(r, v) {
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString(strings.ToValidUTF8(randomString(r), "?"))
	case reflect.Float32:
		v.SetFloat(float64(pick(r, float32(0.1), -2.5, 1e-6, 1e-7, 16777217, math.MaxFloat32)))
	case reflect.Float64:
		v.SetFloat(pick(r, 0.1, -2.5, 9.9e-7, 1e21, 1<<53-1, math.MaxFloat64))
	case reflect.Pointer:
		if depth > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			populate(r, v.Elem(), depth-1)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), r.IntN(3), 3))
		populateElements(r, v, depth)
	case reflect.Array:
		populateElements(r, v, depth)
	case reflect.Map:
		populateMap(r, v, depth)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				populate(r, v.Field(i), depth-1)
			}
		}
	}
	switch {
	case v.CanInt():
		v.SetInt(randomInt(r) >> (64 - v.Type().Bits()))
	case v.CanUint():
		v.SetUint(uint64(randomInt(r)) >> (65 - v.Type().Bits()))
	}
}

// populateKnown sets values of types that not every Go value of their kind is good for.
func populateKnown(r *rand.Rand, v reflect.Value) bool {
	if !v.CanAddr() || !v.CanInterface() {
		return false
	}
	switch at := v.Addr().Interface().(type) {
	case *json.Number:
		*at = pick(r, json.Number("1"), "-2.5", "1e3", "12345678901234567890")
	case *json.RawMessage:
		*at = pick(r, json.RawMessage(`{"a":[1.0]}`), json.RawMessage(`null`))
	case *value.Value:
		*at = pick(r, value.Null(), value.Int(3), value.Object(value.Member{Name: "v", Value: value.List(value.String("w"))}))
	case *any:
		*at = pick[any](r, nil, "s", 2.5, int64(3), true, []any{"a", nil, []any(nil)}, map[string]any{"k": map[string]any(nil)})
	case *time.Time:
		*at = time.Date(2024, 5, r.IntN(28)+1, 9, 26, 53, 0, time.UTC)
	case *textual:
		at.text = "x" + strings.Repeat("y", r.IntN(3))
	case *both:
		at.text = "b"
	case *quantity:
		at.text = "10Gi"
	case *intOrString:
		*at = pick(r, intOrString{number: 8080}, intOrString{text: "http"})
	case *json.Marshaler:
		*at = both{}
	case *converted:
		at.N = r.IntN(5)
	default:
		return false
	}
	return true
}

func populateElements(r *rand.Rand, v reflect.Value, depth int) {
	for i := range v.Len() {
		populate(r, v.Index(i), depth-1)
	}
}

func populateMap(r *rand.Rand, v reflect.Value, depth int) {
	v.Set(reflect.MakeMap(v.Type()))
	for range r.IntN(4) {
		key, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		populate(r, key, 1)
		populate(r, elem, depth-1)
		v.SetMapIndex(key, elem)
	}
}
