package structs

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/deed-project/deed/value"
)

// TestFromLike does with Go values of random types what TestDecoderFromAny does with maps.
func TestDecode(t *testing.T) {
	shared := 0
	seeded(t, 1500, func(t *testing.T, r *rand.Rand) {
		typ := randomType(r, 4)
		old, new := reflect.New(typ), reflect.New(typ)
		populate(r, old.Elem(), 4)
		populate(r, new.Elem(), 4)
		if typ.Kind() == reflect.Struct {
			for i := range typ.NumField() { // most parts stay
				if f := new.Elem().Field(i); f.CanSet() && r.IntN(3) > 0 {
					f.Set(old.Elem().Field(i))
				}
			}
		}
		like, err := From(old.Interface())
		if err != nil {
			return // what JSON cannot express
		}
		want, wantErr := From(new.Interface())
		got, err := decodeAfter(new.Interface(), like)
		if (err == nil) != (wantErr == nil) || got.String() != want.String() || !got.Equal(want) {
			t.Errorf("%v like %v: got %v (error %v), want %v (error %v)", typ, like, got, err, want, wantErr)
		}
		again, err := decodeAfter(old.Interface(), like)
		if err != nil || !exactly(again, like) && like.Kind() != value.KindList && like.Kind() != value.KindObject {
			t.Errorf("%v: %v is not itself, but %v (error %v)", typ, like, again, err)
		}
		if again.Same(like) {
			shared++
		}
	})
	if shared < 500 {
		t.Errorf("only %d values were themselves", shared)
	}
}

func TestFromLikeAllocatesNothingForTheSame(t *testing.T) {
	type port struct {
		Name string `json:"name,omitempty"`
		Port int32  `json:"port"`
	}
	v := &struct {
		Labels map[string]string `json:"labels"`
		Ports  []port            `json:"ports"`
		Main   *port             `json:"main"`
	}{map[string]string{"a": "b"}, []port{{"http", 80}, {"https", 443}}, &port{Port: 1}}
	like, err := From(v)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := decodeAfter(v, like); err != nil || !got.Same(like) {
		t.Errorf("%v is not itself, but %v (error %v)", like, got, err)
	}
	if allocs := testing.AllocsPerRun(100, func() { _, _ = decodeAfter(v, like) }); allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
}
