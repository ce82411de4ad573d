package value

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestAppendJSONLikeEncodingJSON: the bytes are those that encoding/json prints for the same data
// in maps and slices.
func TestAppendJSONLikeEncodingJSON(t *testing.T) {
	seeded(t, 3000, func(t *testing.T, r *rand.Rand) {
		v := randomValue(r, 3)
		want, err := json.Marshal(v.ToAny())
		if err != nil {
			t.Fatal(err)
		}
		if got := v.AppendJSON(nil); string(got) != string(want) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

func TestAppendFloat(t *testing.T) {
	for _, test := range []struct {
		f    float64
		want string
	}{
		{0, "0"}, {math.Copysign(0, -1), "-0"}, {1, "1"}, {-2.5, "-2.5"}, {1e-6, "0.000001"}, {9.9e-7, "9.9e-7"}, {1e-10, "1e-10"},
		{1e20, "100000000000000000000"}, {1e21, "1e+21"}, {1 << 62, "4611686018427388000"}, {5e-324, "5e-324"},
		{math.MaxFloat64, "1.7976931348623157e+308"},
	} {
		if got := Float(test.f).String(); got != test.want {
			t.Errorf("Float(%g) prints as %s, want %s", test.f, got, test.want)
		}
	}
}

// TestStrings puts every byte, and characters that need care, at every place of a word of eight
// bytes.
func TestStrings(t *testing.T) {
	var parts []string
	for c := range 256 {
		parts = append(parts, string([]byte{byte(c)}))
	}
	parts = append(parts, "é", "😀", "\u2028", "\u2029", "\ufffd", "\xf0\x9f\x98", "")
	const filling = "abcdefghijklmnop"
	for _, part := range parts {
		for at := range filling {
			s := filling[:at] + part + filling[at:]
			want, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			if got := String(s).AppendJSON(nil); string(got) != string(want) {
				t.Errorf("%q prints as %s, want %s", s, got, want)
			}
			checkParse(t, []byte(`"`+s+`"`))
		}
	}
}

func TestAppendJSONAppends(t *testing.T) {
	v := List(String("a"), Null(), Object(Member{"b", Bool(false)}))
	if got, want := string(v.AppendJSON([]byte("x="))), `x=["a",null,{"b":false}]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := string(Value{}.AppendJSON(nil)); got != "null" {
		t.Errorf("the absent value prints as %s", got)
	}
}

func TestMarshalJSON(t *testing.T) {
	type holder struct {
		V Value `json:"v"`
		W Value `json:"w,omitzero"`
	}
	text, err := json.Marshal(holder{V: List(Int(1), String("<"))})
	if got, want := string(text), `{"v":[1,"\u003c"]}`; err != nil || got != want {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
	var back holder
	if err := json.Unmarshal([]byte(`{"v":{"b":1,"a":2},"w":null}`), &back); err != nil {
		t.Fatal(err)
	}
	if got, want := back.V.String(), `{"a":2,"b":1}`; got != want || !back.W.IsNull() {
		t.Errorf("got %s and %v, want %s and null", got, back.W, want)
	}
	if err := json.Unmarshal([]byte(`{"v":{"a":1,"a":2}}`), &back); err == nil {
		t.Error("a duplicate name is taken inside a struct")
	}
}

// TestStringsEverywhere puts every byte at every place of a string that is looked at in words and
// byte by byte.
func TestStringsEverywhere(t *testing.T) {
	for c := range 256 {
		for i := range 19 {
			s := strings.Repeat("a", i) + string([]byte{byte(c)}) + strings.Repeat("z", 18-i)
			want, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			if got := String(s).AppendJSON(nil); string(got) != string(want) {
				t.Errorf("%q: got %s, want %s", s, got, want)
			}
		}
	}
}
