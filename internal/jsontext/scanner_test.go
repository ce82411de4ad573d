package jsontext

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/deed-project/deed/internal/testing/seeds"
)

// TestEnds compares the searches of eight bytes at once with searches of one.
func TestEnds(t *testing.T) {
	r := seeds.Rand(t)
	const bytes = "abcdefgh \"\\\x1f\x20\x7f\x80\xff\x00!#[]"
	for range 20000 {
		b := make([]byte, r.IntN(30))
		for i := range b {
			b[i] = bytes[r.IntN(8)]
			if r.IntN(12) == 0 {
				b[i] = bytes[r.IntN(len(bytes))]
			}
		}
		s := string(b)
		i := r.IntN(len(s) + 1)
		plain, ascii := i, i
		for plain < len(s) && s[plain] >= ' ' && s[plain] != '"' && s[plain] != '\\' {
			plain++
		}
		for ascii < plain && s[ascii] < utf8.RuneSelf {
			ascii++
		}
		if got := PlainEnd(s, i); got != plain {
			t.Fatalf("PlainEnd(%q, %d) is %d, want %d", s, i, got, plain)
		}
		if got := asciiEnd(s, i); got != ascii {
			t.Fatalf("asciiEnd(%q, %d) is %d, want %d", s, i, got, ascii)
		}
	}
}

// TestModes reads strings in every mode; "" stands for an error.
func TestModes(t *testing.T) {
	const bad = "\ufffd"
	for _, test := range []struct{ text, strict, repair, stored string }{
		{`"a"`, "a", "a", "a"},
		{`"é\n\u00e9\ud83d\ude00\/"`, "é\né😀/", "é\né😀/", "é\né😀/"},
		{"\"a\xff\xfeb\"", "", "a" + bad + bad + "b", "a\xff\xfeb"},
		{"\"\xc3\xa9\xc3\"", "", "é" + bad, "é\xc3"},
		{"\"\xed\xa0\x80\"", "", bad + bad + bad, "\xed\xa0\x80"},
		{`"\ud800"`, "", bad, bad},
		{`"\udc00x"`, "", bad + "x", bad + "x"},
		{`"\ud800\u0041"`, "", bad + "A", bad + "A"},
		{`"\ud800\n"`, "", bad + "\n", bad + "\n"},
		{`"\ud800\ud800\udc00"`, "", bad + "𐀀", bad + bad + bad},
		{`"\ud800\q"`, "", "", ""},
		{"\"a\tb\"", "", "", ""},
		{"\"\\u0041\tb\"", "", "", "A\tb"},
		{"\"\\\"\x00\"", "", "", "\"\x00"},
		{`"\u12g4"`, "", "", ""},
		{`"\u12"`, "", "", ""},
		{`"\`, "", "", ""},
		{`"a`, "", "", ""},
		{"\"\\n\t", "", "", ""},
	} {
		for mode, want := range []string{test.strict, test.repair, test.stored} {
			s := Scanner{Text: test.text, Mode: Mode(mode)}
			got, err := s.AppendString(nil)
			if err != nil {
				got = nil
			}
			skip := Scanner{Text: test.text, Mode: Mode(mode)}
			skipErr := skip.SkipString()
			if string(got) != want || (err == nil) != (want != "") || (skipErr == nil) != (err == nil) {
				t.Errorf("%q in mode %d: got %q (error %v, when skipped %v), want %q", test.text, mode, got, err, skipErr, want)
			}
			if err == nil && (s.Pos != len(test.text) || skip.Pos != s.Pos) {
				t.Errorf("%q in mode %d: ends at %d, when skipped at %d", test.text, mode, s.Pos, skip.Pos)
			}
		}
	}
}

// TestChunk shows where json-iterator stops looking for control characters.
func TestChunk(t *testing.T) {
	for _, test := range []struct {
		quote, control int
		want           bool
	}{{0, 3, false}, {0, 15, false}, {0, 16, true}, {15, 16, true}, {15, 17, true}, {16, 17, false}, {3, 40, true}} {
		text := []byte(strings.Repeat("a", 50) + `"`)
		text[test.quote], text[test.control] = '"', '\t'
		s := Scanner{Text: string(text), Pos: test.quote, Mode: Stored, Chunk: 16}
		if err := s.SkipString(); (err == nil) != test.want {
			t.Errorf("a string from %d with a control character at %d: error %v", test.quote, test.control, err)
		}
	}
}

// TestNullName shows that null is a name after a comma, in one mode.
func TestNullName(t *testing.T) {
	for text, want := range map[string]bool{`{"a":1,null:2}`: true, `{null:2}`: false, `{"a":1,nul:2}`: false} {
		for mode := Strict; mode <= Stored; mode++ {
			s := Scanner{Text: text, Mode: mode}
			if err := s.Skip(); (err == nil) != (want && mode == Stored) {
				t.Errorf("%s in mode %d: error %v", text, mode, err)
			}
		}
	}
}

// TestSkip checks that Skip passes exactly the texts that encoding/json reads.
func TestSkip(t *testing.T) {
	r := seeds.Rand(t)
	const document = ` {"a" : [1, -0.5e+3, 1E5, true ,false,null, "x\n\u00e9é"], "b":{}, "c": [], "d":[[0]] } `
	passed := 0
	for range 50000 {
		b := []byte(document)
		for range r.IntN(3) {
			switch i := r.IntN(len(b)); r.IntN(3) {
			case 0:
				b[i] = document[r.IntN(len(document))]
			case 1:
				b = append(b[:i], b[i+1:]...)
			default:
				b = append(b[:i], b[min(i+r.IntN(9), len(b)):]...)
			}
			if len(b) == 0 {
				break
			}
		}
		s := Scanner{Text: string(b), Mode: Repair}
		s.Space()
		err := s.Skip()
		if err == nil {
			err = s.End()
		}
		var read any // numbers beyond float64 are an error for both
		if readErr := json.Unmarshal(b, &read); (err == nil) != (readErr == nil) {
			t.Fatalf("%q: error %v", b, err)
		}
		if err == nil {
			passed++
			if s.Depth != 0 {
				t.Fatalf("%q leaves the depth at %d", b, s.Depth)
			}
		}
	}
	if passed < 1000 {
		t.Errorf("only %d texts were valid", passed)
	}
}

// TestNumber reads numbers as strconv does.
func TestNumber(t *testing.T) {
	for _, text := range []string{
		"0", "-0", "7", "-7", "123456789012345678", "1234567890123456789", "9223372036854775807", "9223372036854775808",
		"-9223372036854775808", "-9223372036854775809", "1.5", "-1.5e3", "1e5", "1E-5", "0.0", "0e1", "1e308", "100000000000000000000",
	} {
		s := Scanner{Text: text}
		i, f, integer, err := s.Number()
		want, parseErr := strconv.ParseInt(text, 10, 64)
		wantFloat, _ := strconv.ParseFloat(text, 64)
		if err != nil || s.Pos != len(text) || integer != (parseErr == nil) || integer && i != want || !integer && f != wantFloat {
			t.Errorf("%s: got %d, %v, %v (error %v)", text, i, f, integer, err)
		}
	}
	for _, text := range []string{"", "-", "+1", "01", "-01", "1.", ".5", "1e", "1e+", "1.e1", "1e309", "-1e309", "a"} {
		s := Scanner{Text: text}
		if i, f, _, err := s.Number(); err == nil && s.Pos == len(text) {
			t.Errorf("%q is the number %d, %v", text, i, f)
		}
	}
}

func TestWiden(t *testing.T) {
	for _, f := range []float32{0, 0.1, -2.5, 1e-10, 16777216, 3.4028235e38, float32(math.Inf(-1))} {
		want, err := json.Marshal(f)
		if err != nil {
			want = []byte("-Inf")
		}
		if got := strconv.FormatFloat(Widen(f), 'g', -1, 64); got != string(want) && got != strconv.FormatFloat(float64(f), 'g', -1, 32) {
			t.Errorf("%v is widened to %v, want %s", f, got, want)
		}
	}
}

// TestSkipNumber shows that only a number with an exponent is converted.
func TestSkipNumber(t *testing.T) {
	for text, want := range map[string]bool{"1e308": true, "1e309": false, "1" + strings.Repeat("0", 400): true, "1.5": true} {
		s := Scanner{Text: text}
		if err := s.Skip(); (err == nil) != want {
			t.Errorf("%s: error %v", text, err)
		}
	}
}

func TestErrorPath(t *testing.T) {
	s := Scanner{Text: "x"}
	err := s.Unexpected("a value").Within("[2]").Within(".a")
	if err.Trail.Path() != ".a[2]" || err.Reason != `unexpected 'x', want a value` || err.Offset != 0 {
		t.Errorf("got %+v at %q", err, err.Trail.Path())
	}
}

// TestSpaced shows that white space outside strings is detected everywhere.
func TestSpaced(t *testing.T) {
	for text, want := range map[string]bool{
		`{"a b":[1,"x"],"c":{}}`: false, `{ }`: true, `{"a" :1}`: true, `{"a": 1}`: true, `[1 ]`: true, `[1, 2]`: true,
	} {
		s := Scanner{Text: text}
		if err := s.Skip(); err != nil || s.Spaced != want {
			t.Errorf("%s: white space was passed: %v (error %v)", text, s.Spaced, err)
		}
	}
}
