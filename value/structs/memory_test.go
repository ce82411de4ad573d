package structs

import (
	"math"
	"reflect"
	"testing"
)

// scalars has each size of scalar that a tag may omit, with and without a neighbour that is not
// zero.
type scalars struct {
	A  bool    `json:"a,omitempty"`
	B  int8    `json:"b,omitempty"`
	B1 byte    `json:"b1"`
	C  uint16  `json:"c,omitempty"`
	C1 byte    `json:"c1"`
	D  int32   `json:"d,omitempty"`
	D1 byte    `json:"d1"`
	E  uint64  `json:"e,omitempty"`
	F  float32 `json:"f,omitempty"`
	F1 byte    `json:"f1"`
	G  float64 `json:"g,omitempty"`
	H  uintptr `json:"h,omitempty"`
	I  int     `json:"i,omitempty"`
	I1 byte    `json:"i1"`
	J  any     `json:"j,omitempty"`
	K  *int    `json:"k,omitempty"`
	L  []int   `json:"l,omitempty"`
	M  string  `json:"m,omitempty"`
	N  [0]int  `json:"n,omitempty"`
}

// TestScalarSizes demands that all bits of a scalar, and no others, are read and written.
func TestScalarSizes(t *testing.T) {
	full := scalars{B1: 255, C1: 255, D1: 255, F1: 255, I1: 255}
	checkFrom(t, &full)
	for _, set := range []func(*scalars){
		func(s *scalars) { s.A = true },
		func(s *scalars) { s.B = math.MinInt8 },
		func(s *scalars) { s.C = 1 << 15 },
		func(s *scalars) { s.D = math.MinInt32 },
		func(s *scalars) { s.E = 1 << 62 },
		func(s *scalars) { s.F = float32(math.Copysign(0, -1)) },
		func(s *scalars) { s.F = -math.MaxFloat32 },
		func(s *scalars) { s.G = math.Copysign(0, -1) },
		func(s *scalars) { s.G = math.SmallestNonzeroFloat64 },
		func(s *scalars) { s.H = 1 << (reflect.TypeFor[uintptr]().Bits() - 2) },
		func(s *scalars) { s.I = math.MinInt },
		func(s *scalars) { s.J = false },
		func(s *scalars) { s.K = new(int) },
		func(s *scalars) { s.L = []int{}; s.M = "" },
		func(s *scalars) { s.L = []int{0}; s.M = "\x00" },
	} {
		one := full
		set(&one)
		text := checkFrom(t, &one).AppendJSON(nil)
		checkInto(t, text, reflect.TypeFor[scalars]())
		into := scalars{}
		if err := Into(mustParse(t, text), &into); err != nil {
			t.Fatal(err)
		}
		if want := checkFrom(t, &one); !checkFrom(t, &into).Equal(want) {
			t.Errorf("%v fills a struct with %+v", want, into)
		}
	}
}

// TestIntoMisfit demands that an integer that does not fit leaves the field and its neighbours
// alone.
func TestIntoMisfit(t *testing.T) {
	for _, text := range []string{`{"b":128}`, `{"b":-129}`, `{"c":65536}`, `{"c":-1}`, `{"d":2147483648}`, `{"h":-1}`} {
		got := scalars{B1: 1, C: 2, C1: 3, D: 4, D1: 5, H: 6}
		want := got
		err := Into(mustParse(t, []byte(text)), &got)
		if err == nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s gives %+v (error %v)", text, got, err)
		}
	}
}

// addressOnly prints itself only where it has an address.
type addressOnly struct{ N int }

func (a *addressOnly) MarshalText() ([]byte, error) { return []byte{'a', byte('0' + a.N)}, nil }

// TestAddressability demands that methods of the address are called where encoding/json calls them,
// on parts of values too.
func TestAddressability(t *testing.T) {
	type in struct {
		One  addressOnly            `json:"one"`
		Two  [1]addressOnly         `json:"two"`
		Map  map[string]addressOnly `json:"map"`
		List []addressOnly          `json:"list"`
		Ptr  *addressOnly           `json:"ptr"`
		Any  any                    `json:"any"`
	}
	a := addressOnly{1}
	full := in{a, [1]addressOnly{a}, map[string]addressOnly{"a": a, "b": {2}}, []addressOnly{a}, &a, a}
	for _, x := range []any{full, &full, []in{full}, [1]in{full}, map[string]in{"a": full}, map[string]*in{"a": &full}, struct{ In in }{full}} {
		checkFrom(t, x)
		boxed := x
		checkFrom(t, &boxed)
	}
}

// TestMapsInMaps demands that maps of one type inside each other do not share their room for
// entries.
func TestMapsInMaps(t *testing.T) {
	type tree map[string]tree
	checkFrom(t, tree{"a": {"b": {"c": {}, "d": nil}, "e": {"f": {}}}, "g": {"h": {"i": {}}}, "j": {}})
	type counts map[int8][2]int
	checkFrom(t, []counts{{1: {1, 2}, 2: {3, 4}}, {-3: {5, 6}}, {}, nil})
}
