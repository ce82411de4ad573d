package value

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// samePair demands that reading two texts together gives what reading each by itself gives.
func samePair(t *testing.T, first, second []byte) {
	t.Helper()
	path := []string{"a", "b", "*", "c"}
	wantFirst, firstErr := ParseKeeping(first, path...)
	wantSecond, secondErr := ParseKeeping(second, path...)
	gotFirst, gotSecond, err := ParsePair(first, second, path...)
	want := firstErr
	if want == nil {
		want = secondErr
	} else {
		wantSecond = Value{}
	}
	if fmt.Sprint(err) != fmt.Sprint(want) {
		t.Fatalf("%s and %s: error %v, want %v", first, second, err, want)
	}
	for _, pair := range [][2]Value{{gotFirst, wantFirst}, {gotSecond, wantSecond}} {
		if !pair[0].Equal(pair[1]) || pair[0].String() != pair[1].String() {
			t.Fatalf("%s and %s: got %v, want %v", first, second, pair[0], pair[1])
		}
	}
}

func TestParsePair(t *testing.T) {
	seeded(t, 4000, func(t *testing.T, r *rand.Rand) {
		v := randomValue(r, 6)
		w, err := FromAny(changed(r, v.ToAny()))
		if err != nil {
			t.Fatal(err)
		}
		first, second := appendLoosely(nil, r, v), w.AppendJSON(nil)
		if r.IntN(2) == 0 {
			first = v.AppendJSON(nil)
		}
		if r.IntN(4) == 0 { // any part of the one is any part of the other
			i, j := r.IntN(len(first)+1), r.IntN(len(second)+1)
			second = append(append([]byte(nil), first[:i]...), second[j:]...)
		}
		samePair(t, first, second)
	})
}

// TestParsePairShares demands that what lies in front of and behind a change is shared, and what is around it is not.
func TestParsePairShares(t *testing.T) {
	first, second, err := ParsePair(
		[]byte(`{"a":{"x":[1]},"b":{"c":{"d":1},"e":[2]},"f":[{"g":{}},{"h":3}]}`),
		[]byte(`{"a":{"x":[1]},"b":{"c":{"d":1000},"e":[2]},"f":[{"g":{}},{"h":3}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range [][]string{{"a"}, {"f"}, {"b", "e"}} {
		if !second.At(path...).Same(first.At(path...)) {
			t.Errorf("%v is not shared", path)
		}
	}
	if second.Get("b").Same(first.Get("b")) || second.At("b", "c", "d").Int() != 1000 {
		t.Errorf("the second document is %v", second)
	}
}

func FuzzParsePair(f *testing.F) {
	f.Add([]byte(`{"a":{"b":[{"c":{}}]}}`), []byte(`{"a":{"b":[{"c":{"d":1}}]}}`))
	f.Add([]byte(`{"a":{"b":[{"c":{}}]}}`), []byte(`{"x":{"b":[{"c":{}}]}}`))
	f.Add([]byte(`[[1],[2]]`), []byte(`[[1],[1],[2]]`))
	f.Add([]byte(`[]`), []byte(`[[]]`))
	f.Add([]byte(`{"a":`), []byte(`{"a":1}`))
	f.Fuzz(func(t *testing.T, first, second []byte) { samePair(t, first, second) })
}
