package value

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/work"
)

// samePair demands that reading two texts by one Decoder gives what reading each by one of its own
// gives.
func samePair(t *testing.T, first, second []byte) {
	t.Helper()
	path := []string{"a", "b", "*", "c"}
	d := Decoder{Text: path}
	for _, text := range [][]byte{first, second} {
		want, wantErr := (&Decoder{Text: path}).Parse(text)
		got, err := d.Parse(text)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Fatalf("%s and %s: error %v, want %v", first, second, err, wantErr)
		}
		if !got.Equal(want) || got.String() != want.String() {
			t.Fatalf("%s and %s: got %v, want %v", first, second, got, want)
		}
	}
}

func TestDecoderParse(t *testing.T) {
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

// TestDecoderParseShares demands that what lies in front of and behind a change is not read again,
// however the change moves it, and that this holds for the third document as it does for the
// second.
func TestDecoderParseShares(t *testing.T) {
	text := func(d string) []byte {
		return []byte(`{"a":{"x":[1,2,3]},"b":{"c":{"d":` + d + `},"e":[2]},"f":[{"g":{}},{"h":3}]}`)
	}
	for _, ds := range [][]string{
		{`1`, `1000`, `1`}, // longer, then shorter
		{`1000`, `1`, `2`}, // shorter, then as long
		{`{"e":[2]},"g":{"e":[2]}`, `{"e":[2]}`, `[]`}, // repetitions
		{`1`, `1`, `1`}, // nothing
	} {
		var dec Decoder
		var before Value
		for i, d := range ds {
			var v Value
			var err error
			counts := work.Record(func() { v, err = dec.Parse(text(d)) })
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				before = v
				continue
			}
			for _, path := range [][]string{{"a"}, {"f"}, {"b", "e"}} {
				if !v.Get(path...).Same(before.Get(path...)) {
					t.Errorf("%s after %s: %v is not shared", d, ds[i-1], path)
				}
			}
			if d == ds[i-1] && !v.Same(before) {
				t.Errorf("%s again is another document", d)
			}
			if want := mustParse(t, text(d)); !v.Equal(want) {
				t.Errorf("%s after %s: got %v, want %v", d, ds[i-1], v, want)
			}
			if most := 8; counts.Values > most { // the root, a, b, c, d, e and f, and one in d
				t.Errorf("%s after %s: %d values were read, want at most %d", d, ds[i-1], counts.Values, most)
			}
			before = v
		}
	}
}

// TestDecoderParseSharesAtTheEdges shares containers that end right where two texts begin to differ, or begin right behind that.
func TestDecoderParseSharesAtTheEdges(t *testing.T) {
	for _, test := range []struct{ first, second, shared string }{
		{`{"a":[1],"b":2}`, `{"a":[1] ,"b":2}`, "a"},
		{`{"a":1,"b":[1]}`, `{"a":1,"b": [1]}`, "b"},
	} {
		var d Decoder
		first, err1 := d.Parse([]byte(test.first))
		second, err2 := d.Parse([]byte(test.second))
		if err1 != nil || err2 != nil || !first.Get(test.shared).Same(second.Get(test.shared)) {
			t.Errorf("%s and %s do not share %s (errors %v, %v)", test.first, test.second, test.shared, err1, err2)
		}
	}
}

// TestWorkOfReading counts every value that is read, once.
func TestWorkOfReading(t *testing.T) {
	text := []byte(`{"a":[1,2,{"b":null}],"c":"d"}`)
	const values = 7
	held := mustParse(t, text).ToAny()
	for how, read := range map[string]func() (Value, error){
		"Parse": func() (Value, error) { return Parse(text) }, "FromAny": func() (Value, error) { return FromAny(held) },
	} {
		if c := work.Record(func() { _, _ = read() }); c.Values != values {
			t.Errorf("%s counts %d values of %d", how, c.Values, values)
		}
	}
}

// TestParseSharesStrings demands that short strings that come again are there once.
func TestParseSharesStrings(t *testing.T) {
	for _, s := range []string{"TCP", "0123456789abcdef"} {
		v := mustParse(t, []byte(`["`+s+`",{"a":"`+s+`"}]`))
		if !v.Item(0).Same(v.Item(1).Get("a")) {
			t.Errorf("%q is there twice", s)
		}
	}
}

// TestDecoderParseReadsSmallPartsAgain changes one member of a text of 30 kB: what is long in it is shared, and what has less
// than 256 bytes is read again rather than remembered.
func TestDecoderParseReadsSmallPartsAgain(t *testing.T) {
	text := func(d string) []byte {
		return []byte(`{"a":{"x":[1]},"b":{"y":["` + strings.Repeat("y", 256) + `"]},"c":"` + strings.Repeat("z", 30<<10) + `","d":` + d + `}`)
	}
	var dec Decoder
	first, err := dec.Parse(text("1"))
	if err != nil {
		t.Fatal(err)
	}
	second, err := dec.Parse(text("2"))
	if err != nil || !second.Equal(mustParse(t, text("2"))) {
		t.Fatalf("got %v (error %v)", second, err)
	}
	if second.Get("a").Same(first.Get("a")) || !second.Get("b").Same(first.Get("b")) {
		t.Errorf("shared: .a is %v, .b is %v; want false, true", second.Get("a").Same(first.Get("a")), second.Get("b").Same(first.Get("b")))
	}
}

// TestParseAlone reads a text by a Decoder that reads no other: its options count, and nothing is noted.
func TestParseAlone(t *testing.T) {
	d := Decoder{Repair: true, Repeats: true, Text: []string{"a"}}
	v, err := internal{}.ParseAlone(d, []byte("{\"a\": [1],\"b\":{},\"b\":\"\xff\"}"))
	if want := Object(Member{"a", String("[1]")}, Member{"b", String("\ufffd")}); err != nil || !v.Equal(want) {
		t.Errorf("got %v (error %v), want %v", v, err, want)
	}
	if _, err := (internal{}).ParseAlone(Decoder{}, []byte(`{"a":1,"a":1}`)); err == nil {
		t.Error("a name twice is no error")
	}
}

// TestDecoderMixes reads documents of all forms by one Decoder, some of them wrong, and one after a
// document from elsewhere.
func TestDecoderMixes(t *testing.T) {
	var d Decoder
	check := func(v Value, err error, shared Value) Value {
		t.Helper()
		if err != nil || !v.Get("a").Same(shared) || !d.Last.Same(v) {
			t.Errorf("got %v (error %v), which shares nothing", v, err)
		}
		return v.Get("a")
	}
	first, err := d.Parse([]byte(`{"a":[1],"b":1}`))
	shared := check(first, err, first.Get("a"))
	if _, err := d.Parse([]byte(`{"a":[1],"b":`)); err == nil || !d.Last.Same(first) {
		t.Errorf("after an error, the last document is %v", d.Last)
	}
	v, err := d.FromAny(map[string]any{"a": []any{int64(1)}, "b": true})
	check(v, err, shared)
	if _, err := d.FromAny(func() {}); err == nil || !d.Last.Same(v) {
		t.Errorf("after an error, the last document is %v", d.Last)
	}
	if v, err = d.Parse([]byte(`{"a":[1],"b":2}`)); err != nil || v.Get("a").Same(shared) {
		t.Errorf("got %v (error %v) out of a text that is not the last document's", v, err)
	}
	d.Last = first
	v, err = d.FromAny(map[string]any{"a": []any{int64(1)}, "b": 2.5})
	check(v, err, shared)
}

func FuzzDecoder(f *testing.F) {
	f.Add([]byte(`{"a":{"b":[{"c":{}}]}}`), []byte(`{"a":{"b":[{"c":{"d":1}}]}}`))
	f.Add([]byte(`{"a":{"b":[{"c":{}}]}}`), []byte(`{"x":{"b":[{"c":{}}]}}`))
	f.Add([]byte(`[[1],[2]]`), []byte(`[[1],[1],[2]]`))
	f.Add([]byte(`[]`), []byte(`[[]]`))
	f.Add([]byte(`{"a":`), []byte(`{"a":1}`))
	f.Fuzz(func(t *testing.T, first, second []byte) { samePair(t, first, second) })
}

// TestDecoderRepairs reads texts that Parse does not take, as kube-apiserver reads them.
func TestDecoderRepairs(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"{\"\xff\xfe\": 1}", `{"\ufffd\ufffd":1}`},
		{`["\ud800","\ud800\u0041","\udc00x"]`, `["\ufffd","\ufffdA","\ufffdx"]`},
		{"{\"a\":\"x\xc3\"}", `{"a":"x\ufffd"}`},
	} {
		if v, err := Parse([]byte(test.text)); err == nil {
			t.Errorf("Parse takes %q, as %v", test.text, v)
		}
		d := Decoder{Repair: true}
		got, err := d.Parse([]byte(test.text))
		if want := mustParse(t, []byte(test.want)); err != nil || !got.Equal(want) {
			t.Errorf("%q: got %v (error %v), want %v", test.text, got, err, want)
		}
	}
	d := Decoder{Repair: true}
	for _, text := range []string{`{"a":1,"a":2}`, "[\"a\tb\"]", `["\x"]`, "{\"\xff\":1,\"\xfe\":2}"} {
		if v, err := d.Parse([]byte(text)); err == nil {
			t.Errorf("a Decoder that repairs takes %q, as %v", text, v)
		}
	}
}

// TestDecoderRepeats reads names that come twice: the last counts, whatever was before it.
func TestDecoderRepeats(t *testing.T) {
	many := []byte(`{"z":0`)
	for i := range 100 {
		many = fmt.Appendf(many, `,"n%d":%d`, i%40, i)
	}
	want := map[string]any{"z": 0}
	for i := range 100 {
		want[fmt.Sprintf("n%d", i%40)] = i
	}
	for text, want := range map[string]any{
		`{"a":{"b":1,"c":2},"x":[{"y":1,"y":2,"y":null}],"a":{"d":3}}`: map[string]any{"a": map[string]any{"d": 3}, "x": []any{map[string]any{"y": nil}}},
		string(many) + "}":   want,
		`{"a":1,"\u0061":2}`: map[string]any{"a": 2},
	} {
		d := Decoder{Repeats: true}
		got, err := d.Parse([]byte(text))
		if want, _ := FromAny(want); err != nil || !got.Equal(want) {
			t.Errorf("%s: got %v (error %v), want %v", text, got, err, want)
		}
	}
}

// TestUnusualTexts reads what structured-merge-diff's own tests demand to be read, and means the
// same by both spellings.
func TestUnusualTexts(t *testing.T) {
	for _, test := range []struct{ text, canonical string }{
		{`null`, `null`}, {`true`, `true`}, {`false`, `false`}, {`42`, `42`}, {`"x"`, `"x"`}, {`""`, `""`}, {`{}`, `{}`}, {`[]`, `[]`},
		{"  42", `42`}, {"\ttrue", `true`}, {"\n\"x\"", `"x"`}, {" \t\n{\"a\":1}", `{"a":1}`}, {" \t\n[1,2]", `[1,2]`}, {" \t\nnull", `null`},
		{"42  ", `42`}, {"false\t", `false`}, {"\"x\"\n", `"x"`}, {"{\"a\":1} \t\n", `{"a":1}`}, {"[1,2] \t\n\r", `[1,2]`},
		{" \t\n {\"a\":1} \t\n", `{"a":1}`}, {" null ", `null`}, {" true ", `true`},
		{`{"Iñtërnâtiônàlizætiøn":1}`, `{"Iñtërnâtiônàlizætiøn":1}`}, {`{"Здравствуйте":1}`, `{"Здравствуйте":1}`},
		{`{"こんにちは世界":1}`, `{"こんにちは世界":1}`}, {`{"😂💝🐹🌇⛔":1}`, `{"😂💝🐹🌇⛔":1}`},
		{`{"\u0041":1}`, `{"A":1}`}, {`{"\u00c5":1}`, `{"Å":1}`}, {`{"\uD83D\uDE02":1}`, `{"😂":1}`},
		{"{\"\xff\xfe\": 1}", "{\"\xff\xfe\": 1}"},
	} {
		got, err := (&Decoder{Repair: true}).Parse([]byte(test.text))
		if err != nil {
			t.Errorf("%q: %v", test.text, err)
		}
		want, err := (&Decoder{Repair: true}).Parse([]byte(test.canonical))
		if err != nil || !got.Equal(want) {
			t.Errorf("%q is %v, want %v (error %v)", test.text, got, want, err)
		}
	}
}
