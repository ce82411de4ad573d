package value

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	tests := []struct{ text, want string }{
		{`null`, `null`},
		{" \t\r\n true \n", `true`},
		{`[]`, `[]`},
		{`{ }`, `{}`},
		{`""`, `""`},
		{`{"b":[1,2.5,"x\u00e9\ud83d\ude00"],"a":{"z":null,"y":true},"c":""}`, `{"a":{"y":true,"z":null},"b":[1,2.5,"xé😀"],"c":""}`},
		{`"\"\\\/\b\f\n\r\t\u0041\u00E9"`, `"\"\\/\b\f\n\r\tAé"`},
		{`"0123456\n89 a long tail of plain text\u0020\u003e"`, `"0123456\n89 a long tail of plain text \u003e"`},
		{`-0`, `0`},
		{`-0.0`, `-0`},
		{`1.0`, `1`},
		{`1e3`, `1000`},
		{`123456789012345678`, `123456789012345678`},
		{`-9223372036854775808`, `-9223372036854775808`},
		{`9223372036854775807`, `9223372036854775807`},
		{`9223372036854775808`, `9223372036854776000`},
		{`1e-7`, `1e-7`},
		{`5e-324`, `5e-324`},
		{`1e-400`, `0`},
	}
	for _, test := range tests {
		v, err := Parse([]byte(test.text))
		if err != nil {
			t.Errorf("Parse(%s): %v", test.text, err)
		} else if got := v.String(); got != test.want {
			t.Errorf("Parse(%s) = %s, want %s", test.text, got, test.want)
		}
	}
}

func TestParseKinds(t *testing.T) {
	for text, want := range map[string]Kind{
		"null": KindNull, "false": KindBool, "7": KindInt, "7.0": KindFloat, "7e0": KindFloat, `""`: KindString, "[]": KindList,
		"{}": KindObject, "9223372036854775808": KindFloat, "-9223372036854775809": KindFloat, "-0.0": KindFloat, "-0": KindInt,
	} {
		if got := mustParse(t, []byte(text)).Kind(); got != want {
			t.Errorf("Parse(%s) is of kind %v, want %v", text, got, want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	deep := strings.Repeat("[", MaxDepth+1)
	deepObject := strings.Repeat(`{"a":`, MaxDepth+1)
	tests := []struct {
		text   string
		offset int
		path   string
		reason string
	}{
		{``, 0, "", `unexpected end, want a value`},
		{`  `, 2, "", `unexpected end, want a value`},
		{`nul`, 0, "", `unexpected 'n', want a value`},
		{`True`, 0, "", `unexpected 'T', want a value`},
		{`1 2`, 2, "", `data after the document`},
		{`{} x`, 3, "", `data after the document`},
		{`[1,]`, 3, "[1]", `unexpected ']', want a value`},
		{`[1 2]`, 3, "", `unexpected '2', want a comma or ']'`},
		{`[1`, 2, "", `unexpected end, want a comma or ']'`},
		{`[`, 1, "[0]", `unexpected end, want a value`},
		{`{"a":1,}`, 7, "", `unexpected '}', want a name in double quotes`},
		{`{a:1}`, 1, "", `unexpected 'a', want a name in double quotes`},
		{`{"a" 1}`, 5, "", `unexpected '1', want a colon`},
		{`{"a":}`, 5, ".a", `unexpected '}', want a value`},
		{`{"a":1`, 6, "", `unexpected end, want a comma or '}'`},
		{`{"a":[1,{"x":1,"x":2}]}`, 15, ".a[1]", `duplicate name "x"`},
		{`{"x":1,"a":2,"\u0078":3}`, 13, "", `duplicate name "x"`},
		{`{"":1,"":2}`, 6, "", `duplicate name ""`},
		{`{"a":0,"x":1,"b":2,"x":3}`, 19, "", `duplicate name "x"`},
		{`[0,[1,x]]`, 6, "[1][1]", `unexpected 'x', want a value`},
		{`{"spec":{"ports":[{},{"port":08}]}}`, 30, ".spec.ports[1].port", `a digit after a leading 0`},
		{`-`, 1, "", `unexpected end, want a digit`},
		{`-a`, 1, "", `unexpected 'a', want a digit`},
		{`1.`, 2, "", `unexpected end, want a digit`},
		{`1.e3`, 2, "", `unexpected 'e', want a digit`},
		{`1e+`, 3, "", `unexpected end, want a digit`},
		{`+1`, 0, "", `unexpected '+', want a value`},
		{`[1e400]`, 1, "[0]", `number overflows a float64`},
		{`"abc`, 4, "", `unexpected end, want the end of a string`},
		{"\"a\nb\"", 2, "", `control character 0x0a in a string`},
		{"\"12345678\x00\"", 9, "", `control character 0x00 in a string`},
		{"\"\xff\"", 1, "", `byte 0xff is not UTF-8`},
		{"\"é\xc3\"", 3, "", `byte 0xc3 is not UTF-8`},
		{"\"\xed\xa0\x80\"", 1, "", `byte 0xed is not UTF-8`},
		{"[\xff]", 1, "[0]", `byte 0xff is not UTF-8`},
		{"\ufeff{}", 0, "", `unexpected '\ufeff', want a value`},
		{`"\x"`, 1, "", `invalid escape`},
		{`"\u00g0"`, 1, "", `invalid escape`},
		{"\"\\u00\x150\"", 1, "", `invalid escape`},
		{`"\u12"`, 1, "", `invalid escape`},
		{`"\`, 1, "", `unexpected end, want an escape`},
		{`"a\ud800"`, 2, "", `escape of half a surrogate pair`},
		{`"\ude00\ud83d"`, 1, "", `escape of half a surrogate pair`},
		{`"\ud83dx"`, 1, "", `escape of half a surrogate pair`},
		{`"\ud83d\u0041"`, 1, "", `escape of half a surrogate pair`},
		{deep, MaxDepth, strings.Repeat("[0]", MaxDepth), `nested deeper than 10000`},
		{deepObject, 5 * MaxDepth, strings.Repeat(".a", MaxDepth), `nested deeper than 10000`},
	}
	for _, test := range tests {
		_, err := Parse([]byte(test.text))
		var at *SyntaxError
		if !errors.As(err, &at) {
			t.Errorf("Parse(%.40q): error %v, want %s", test.text, err, test.reason)
		} else if at.Offset != test.offset || at.Path != test.path || at.Reason != test.reason {
			t.Errorf("Parse(%.40q): error %d, %.40s, %s\n want %d, %.40s, %s",
				test.text, at.Offset, at.Path, at.Reason, test.offset, test.path, test.reason)
		}
	}
}

func TestParseErrorText(t *testing.T) {
	_, err := Parse([]byte(`{"a":[1,{"x":1,"x":2}]}`))
	if got, want := err.Error(), `invalid JSON at byte 15, in .a[1]: duplicate name "x"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	_, err = Parse([]byte(`{} {}`))
	if got, want := err.Error(), `invalid JSON at byte 3: data after the document`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestParseDeepest(t *testing.T) {
	text := strings.Repeat(`[`, MaxDepth/2) + strings.Repeat(`{"a":`, MaxDepth/2) + "1" +
		strings.Repeat(`}`, MaxDepth/2) + strings.Repeat(`]`, MaxDepth/2)
	if got := mustParse(t, []byte(text)).String(); got != text {
		t.Errorf("a text of depth %d does not come back", MaxDepth)
	}
}

// TestParseKeepsItsHandsOff: neither does Parse write to the text, nor does the result change with
// it.
func TestParseKeepsItsHandsOff(t *testing.T) {
	const text = `{"a\u0062c":"d\ne","f":["ghi"]}`
	given := []byte(text)
	v := mustParse(t, given)
	if string(given) != text {
		t.Errorf("Parse changed its text to %s", given)
	}
	for i := range given {
		given[i] = '#'
	}
	if got, want := v.String(), `{"abc":"d\ne","f":["ghi"]}`; got != want {
		t.Errorf("got %s after the text was overwritten, want %s", got, want)
	}
}

// parseSlowly is the naive twin of Parse: encoding/json, then numbers by the rule for kinds.
func parseSlowly(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("data after the document")
	}
	return plainNumbers(v)
}

func plainNumbers(v any) (_ any, err error) {
	switch v := v.(type) {
	case json.Number:
		if i, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			return i, nil
		}
		return strconv.ParseFloat(string(v), 64)
	case []any:
		for i := range v {
			if v[i], err = plainNumbers(v[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for name := range v {
			if v[name], err = plainNumbers(v[name]); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

// stricter lists the beginnings of the reasons for which Parse refuses what encoding/json takes.
var stricter = []string{"duplicate name", "byte 0x", "escape of half a surrogate pair"}

// checkParse compares Parse with its twin on one text.
func checkParse(t *testing.T, text []byte) {
	t.Helper()
	want, wantErr := parseSlowly(text)
	got, err := Parse(text)
	switch {
	case err == nil && wantErr != nil:
		t.Errorf("Parse takes %q: %v", text, wantErr)
	case err != nil && wantErr == nil:
		reason := err.(*SyntaxError).Reason
		if !slices.ContainsFunc(stricter, func(prefix string) bool { return strings.HasPrefix(reason, prefix) }) {
			t.Errorf("Parse refuses %q: %v", text, err)
		}
	case err == nil:
		if wanted, err := FromAny(want); err != nil || !got.Equal(wanted) {
			t.Errorf("Parse(%q) = %v, want %v (%v)", text, got, wanted, err)
		}
		checkRoundTrip(t, got)
	}
}

// checkRoundTrip checks that v comes back from its text. Only whole floats from 2^53 on may come
// back as other numbers: the shortest text that stands for such a float is not the number's own
// digits, and says an integer. The text comes back too, but that of -0, which reads as the integer
// 0.
func checkRoundTrip(t *testing.T, v Value) {
	t.Helper()
	text := v.AppendJSON(nil)
	back, err := Parse(text)
	if err != nil {
		t.Fatalf("Parse refuses what AppendJSON printed, %s: %v", text, err)
	}
	if again := back.AppendJSON(nil); !bytes.Equal(again, text) && !bytes.Contains(text, []byte("-0")) {
		t.Errorf("%s is printed as %s the second time", text, again)
	}
	if !back.Equal(v) && !hasLargeWhole(v) {
		t.Errorf("%v comes back as %v", v, back)
	}
}

func hasLargeWhole(v Value) bool {
	if v.Kind() == KindFloat {
		return v.Float() >= 1<<53 || v.Float() <= -1<<53
	}
	for item := range v.Items() {
		if hasLargeWhole(item) {
			return true
		}
	}
	for _, member := range v.Members() {
		if hasLargeWhole(member) {
			return true
		}
	}
	return false
}

func TestParseLikeEncodingJSON(t *testing.T) {
	seeded(t, 4000, func(t *testing.T, r *rand.Rand) { checkParse(t, randomText(r)) })
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		`{"b":[1,2.5,"x\u00e9\ud83d\ude00"],"a":{"z":null,"y":true},"c":""}`, `[1e400]`, `{"a":1,"a":2}`, "\"\xff\"", `"\ud800"`,
		`-0.0`, `9223372036854775808`, `4611686018427387904.0`, `[[[{}]]]`, `"0123456789\n\u2028 tail"`, `01`, `1e-7`, `{"a":1}}`, "\u00a01",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) { checkParse(t, text) })
}
