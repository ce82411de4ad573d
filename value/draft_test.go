package value

import (
	"maps"
	"math/rand/v2"
	"testing"
)

// TestDecoderFromAny demands that what is like another document differs in nothing but storage from
// what is like none.
func TestDecoderFromAny(t *testing.T) {
	seeded(t, 5000, func(t *testing.T, r *rand.Rand) {
		like := randomValue(r, 4)
		v := changed(r, like.ToAny())
		if r.IntN(4) == 0 {
			v = randomValue(r, 4).ToAny()
		}
		want, err := FromAny(v)
		if err != nil {
			t.Fatal(err)
		}
		got, err := (&Decoder{Last: like}).FromAny(v)
		if err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() || !got.Equal(want) {
			t.Errorf("like %v: got %v, want %v", like, got, want)
		}
		if again, err := (&Decoder{Last: like}).FromAny(like.ToAny()); err != nil || like.Kind() != KindString && !again.Same(like) {
			t.Errorf("%v is not itself, but %v (error %v)", like, again, err)
		}
	})
}

// changed returns v with some parts of it different.
func changed(r *rand.Rand, v any) any {
	switch v := v.(type) {
	case map[string]any:
		return changedMap(r, v)
	case []any:
		out := append([]any(nil), v...)
		for i := range out {
			if r.IntN(4) == 0 {
				out[i] = changed(r, out[i])
			}
		}
		if r.IntN(3) == 0 {
			out = append(out, "new")
		}
		return out[:len(out)-r.IntN(len(out)+1)/2]
	case int64:
		return float64(v)
	}
	return randomValue(r, 2).ToAny()
}

func changedMap(r *rand.Rand, v map[string]any) any {
	out := maps.Clone(v)
	for name, member := range v {
		switch r.IntN(8) {
		case 0, 1:
			out[name] = changed(r, member)
		case 2:
			delete(out, name)
			out[name+"x"] = member
		case 3:
			delete(out, name)
		}
	}
	return out
}

// TestDecoderFromAnyShares demands that what is the same is shared, and that numbers of another
// kind are not the same.
func TestDecoderFromAnyShares(t *testing.T) {
	like := mustParse(t, []byte(`{"a":{"b":[1,{"c":"x"}],"d":{"e":1.5}},"f":{"g":0}}`))
	got, err := (&Decoder{Last: like}).FromAny(map[string]any{
		"a": map[string]any{"b": []any{int64(1), map[string]any{"c": "x"}}, "d": map[string]any{"e": 2.5}},
		"f": map[string]any{"g": 0.0},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !got.Get("a", "b").Same(like.Get("a", "b")) {
		t.Error("a.b is the same and not shared")
	}
	if kind := got.Get("f", "g").Kind(); kind != KindFloat {
		t.Errorf("f.g is %v, want float", kind)
	}
}

// TestDecoderExcept demands that a document without one part is what the map without it is.
func TestDecoderExcept(t *testing.T) {
	left := 0
	seeded(t, 3000, func(t *testing.T, r *rand.Rand) {
		like := randomObject(r, 4)
		v := changed(r, like.ToAny())
		var path []string
		bare, err := FromAny(v)
		if err != nil {
			t.Fatal(err)
		}
		for in := bare; in.Kind() == KindObject && in.Len() > 0 && len(path) < 3; in = in.Get(path[len(path)-1]) {
			path = append(path, in.Member(r.IntN(in.Len())).Name)
		}
		if r.IntN(4) == 0 {
			path = append(path, "missing")
		}
		got, err := (&Decoder{Last: like, Except: path}).FromAny(v)
		if err != nil {
			t.Fatal(err)
		}
		want := without(bare, path)
		if got.String() != want.String() || !got.Equal(want) {
			t.Errorf("%v without %q, like %v: got %v, want %v", bare, path, like, got, want)
		}
		if got.Len() < bare.Len() || len(path) > 1 && !got.Equal(bare) {
			left++
		}
	})
	if left < few(500) {
		t.Errorf("only %d documents had something to leave out", left)
	}
}

// without returns v without what lies at path.
func without(v Value, path []string) Value {
	if len(path) == 0 || v.Kind() != KindObject {
		return v
	}
	var members []Member
	for name, member := range v.Members() {
		switch {
		case name != path[0]:
		case len(path) == 1:
			continue
		default:
			member = without(member, path[1:])
		}
		members = append(members, Member{name, member})
	}
	return Object(members...)
}

// TestDecoderExceptNothing leaves nothing out if there is no path.
func TestDecoderExceptNothing(t *testing.T) {
	got, err := (&Decoder{Except: []string{}}).FromAny(map[string]any{"": 1})
	if want := Object(Member{"", Int(1)}); err != nil || !got.Equal(want) {
		t.Errorf("got %v (error %v), want %v", got, err, want)
	}
}

func TestDecoderFromAnyAllocatesNothingForTheSame(t *testing.T) {
	v := mustParse(t, podText(t)).ToAny()
	like, err := FromAny(v)
	if err != nil {
		t.Fatal(err)
	}
	if allocs := testing.AllocsPerRun(100, func() { _, _ = (&Decoder{Last: like}).FromAny(v) }); allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
}
