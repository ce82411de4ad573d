package structs

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/deed-project/deed/internal/work"
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
		if err != nil || !values.Exactly(again, like) && like.Kind() != value.KindList && like.Kind() != value.KindObject {
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

// silent is text that says nothing.
type silent struct{}

func (silent) MarshalText() ([]byte, error) { return nil, nil }

// TestDecodeAfterOtherKinds converts strings after what is in their place and is no string, or not by the same way.
func TestDecodeAfterOtherKinds(t *testing.T) {
	type plain struct{ A string }
	for _, test := range []struct {
		x           any
		after, want value.Value
	}{
		{plain{""}, value.Int(5), value.String("")},
		{plain{""}, value.List(), value.String("")},
		{plain{"5"}, value.Int(5), value.String("5")},
		{struct{ A silent }{}, value.Int(5), value.String("")},
		{struct{ A silent }{}, value.Object(), value.String("")},
		{struct{ A loud }{"a"}, value.String("a"), value.String("a!")},
		{struct{ A loud }{"a"}, value.String("a!"), value.String("a!")},
	} {
		was := value.Object(value.Member{Name: "A", Value: test.after})
		if got, err := decodeAfter(test.x, was); err != nil || !got.Get("A").Equal(test.want) || got.Get("A").Kind() != test.want.Kind() {
			t.Errorf("%+v after %v: got %v (error %v), want %v", test.x, was, got, err, test.want)
		}
	}
}

// TestDecodeSharesFields shares what a struct has with an object that has other members in front of it.
func TestDecodeSharesFields(t *testing.T) {
	was := mustParse(t, []byte(`{"A":1,"B":2,"C":[1],"D":3,"E":[2]}`))
	got, err := decodeAfter(struct{ C, E []int }{[]int{1}, []int{2}}, was)
	if err != nil || !got.Get("C").Same(was.Get("C")) || !got.Get("E").Same(was.Get("E")) || got.Len() != 2 {
		t.Errorf("got %v (error %v), which does not share C and E", got, err)
	}
}

// TestWorkOfFrom counts every value that an interface holds, once.
func TestWorkOfFrom(t *testing.T) {
	c := work.Record(func() {
		if _, err := From([]any{1, "a", map[string]any{"b": nil}}); err != nil {
			t.Fatal(err)
		}
	})
	if c.Values != 5 {
		t.Errorf("%d values are counted, want 5", c.Values)
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
