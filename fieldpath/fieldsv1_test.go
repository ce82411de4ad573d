package fieldpath_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strconv"
	"testing"
	"unicode/utf8"

	smd "sigs.k8s.io/structured-merge-diff/v4/fieldpath"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/testing/seeds"
)

// fieldsV1 holds texts that are read, with what is written back, "" for the same text.
var fieldsV1 = []struct{ text, written string }{
	{`{}`, ``},
	{`{"f:a":{}}`, ``},
	{`{"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{}}}}}`, ``},
	{`{"f:a":{"v:\"x\"":{},"v:1":{},"v:-7":{},"v:true":{},"v:null":{},"i:-3":{},"i:3":{}}}`, `{"f:a":{"v:-7":{},"v:1":{},"v:\"x\"":{},"v:true":{},"v:null":{},"i:-3":{},"i:3":{}}}`},
	{`{"v:[1,{\"a\":null}]":{},"v:{\"a\":1,\"b\":[]}":{}}`, ``},
	{`{"k:{}":{},"k:{\"\":0}":{},"k:{\"a\":{}}":{}}`, ``},
	{` { "f:a" : { } , "f:b" : null } `, `{"f:a":{},"f:b":{}}`},
	{`null`, `{}`},
	{`{".":{},"f:a":{}}`, `{"f:a":{}}`},
	{`{"f:a":{".":5},"f:b":{"f:c":{},".":[{"x":-1.5e3}]}}`, `{"f:a":{},"f:b":{".":{},"f:c":{}}}`},
	{`{"f:a":{".":{},".":{},"f:b":{}}}`, `{"f:a":{".":{},"f:b":{}}}`},
	{`{"f:a":{"r:x":{}},"s:":[true,false,null,"\u00e9",1e9,-0.5],"f:b":{"q:1":{},"f:c":{}}}`, `{"f:a":{},"f:b":{"f:c":{}}}`},
	{`{"f:b":{},"f:a":{"f:d":{},"f:c":{}}}`, `{"f:a":{"f:c":{},"f:d":{}},"f:b":{}}`},
	{`{"f:a":{"f:b":{}},"f:a":{"f:c":{}}}`, `{"f:a":{"f:c":{}}}`},
	{`{"f:a":{"f:b":{}},"f:a":{}}`, `{"f:a":{".":{},"f:b":{}}}`},
	{`{"f:a":{},"f:a":{"f:b":{}},"f:a":null}`, `{"f:a":{".":{},"f:b":{}}}`},
	{`{"v:1":{},"v:1.0":{"f:a":{}},"v: 10e-1 ":{}}`, `{"v:1":{".":{},"f:a":{}}}`},
	{`{"k:{\"b\":1,\"a\":2}":{}}`, `{"k:{\"a\":2,\"b\":1}":{}}`},
	{`{"k:{\"a\":2,\"a\":1}":{},"k:null":{}}`, `{"k:{}":{},"k:{\"a\":2,\"a\":1}":{}}`},
	{`{"v:{\"b\":1,\"a\":2,\"b\":3}":{}}`, `{"v:{\"a\":2,\"b\":3}":{}}`},
	{`{"i:007":{},"i:+8":{}}`, `{"i:7":{},"i:8":{}}`},
	{`{"f:":{},"f:\"\\\n\u0001<>&é` + "\u2028" + `":{}}`, ``},
	{`{"f:\u0061\/":{}}`, `{"f:a/":{}}`},
	{`{"v:\"<>&\"":{},"v:\"\\\"\\\\\\n\\b\"":{}}`, `{"v:\"\\\"\\\\\\n\\u0008\"":{},"v:\"\\u003c\\u003e\\u0026\"":{}}`},
	{`{"k:{\"a<\":\"\\u2028\"}":{}}`, ``},
	{`{"f:\ud83d\ude00":{},"f:\ud800x":{},"f:\ud800\ud800\udc00":{},"f:\ud800\n":{}}`, "{\"f:\ufffd\\n\":{},\"f:\ufffdx\":{},\"f:\ufffd\ufffd\ufffd\":{},\"f:😀\":{}}"},
	{"{\"f:\xff\":{}}", ``},
	{"{\"v:\\\"\xff\\\"\":{}}", `{"v:\"\\ufffd\"":{}}`},
	{`{"v:1e-7":{},"v:1e21":{},"v:100000000000000000000":{},"v:1000000":{}}`, `{"v:1e-07":{},"v:1000000":{},"v:100000000000000000000":{},"v:1e+21":{}}`},
}

func TestParseSet(t *testing.T) {
	for _, c := range fieldsV1 {
		want := c.written
		if want == "" {
			want = c.text
		}
		s, _, canonical, err := paths.ParseCanonical([]byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		check(t, c.text, string(s.AppendJSON(nil)), want)
		check(t, c.text+" is canonical", canonical, c.text == want)
		var reference smd.Set
		if err := reference.FromJSON(bytes.NewReader([]byte(c.text))); err != nil && err != io.EOF {
			t.Errorf("the reference does not read %s: %v", c.text, err)
		}
		check(t, c.text+" by the reference", smdJSON(t, &reference), want)
	}
}

// TestNumbersDiffer holds the numbers that the reference writes in another way than deed: it reads
// all as float64.
func TestNumbersDiffer(t *testing.T) {
	for _, c := range []struct{ text, deed, reference string }{
		{`{"v:-0":{}}`, `{"v:0":{}}`, `{"v:-0":{}}`},
		{`{"v:9007199254740993":{},"v:9007199254740992":{}}`, `{"v:9007199254740992":{},"v:9007199254740993":{}}`, `{"v:9007199254740992":{}}`},
		{`{"v:1152921504606846976":{}}`, `{"v:1152921504606846976":{}}`, `{"v:1152921504606847000":{}}`},
		{`{"v:9223372036854775807":{}}`, `{"v:9223372036854775807":{}}`, `{"v:9223372036854776000":{}}`},
	} {
		s, err := fieldpath.ParseSet([]byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		check(t, c.text, string(s.AppendJSON(nil)), c.deed)
		var reference smd.Set
		if err := reference.FromJSON(bytes.NewReader([]byte(c.text))); err != nil {
			t.Fatal(err)
		}
		check(t, c.text+" by the reference", smdJSON(t, &reference), c.reference)
	}
}

func TestParseSetErrors(t *testing.T) {
	for _, c := range []struct {
		text   string
		offset int
	}{
		{``, 0}, {`  `, 2}, {`[]`, 0}, {`1`, 0}, {`nul`, 0}, {`{`, 1}, {`{}{}`, 2}, {`{} x`, 3}, {`{,}`, 1}, {`{"f:a"}`, 6}, {`{"f:a":}`, 7},
		{`{"f:a":{},}`, 10}, {`{"f:a":{} "f:b":{}}`, 10}, {`{"f:a":1}`, 7}, {`{"f:a":{]}`, 8}, {`{"f:a`, 5}, {"{\"f:a\tb\":{}}", 5}, {`{"f:\x":{}}`, 4},
		{`{"f:\u12g4":{}}`, 4}, {`{"a":{}}`, 1}, {`{"":{}}`, 1}, {`{"f":{}}`, 1}, {`{"i:x":{}}`, 1}, {`{"i:":{}}`, 1}, {`{"i:99999999999999999999":{}}`, 1},
		{`{"v:":{}}`, 1}, {`{"v:01":{}}`, 1}, {`{"v:1e999":{}}`, 1}, {`{"v:1 2":{}}`, 1}, {`{"k:[]":{}}`, 1}, {`{"k:{":{}}`, 1}, {`{"k:{\"a\"}":{}}`, 1},
		{`{"k:{\"a\":1,}":{}}`, 1}, {`{".":}`, 5}, {`{".":[1,]}`, 8}, {`{".":{"a":}}`, 10}, {`{".":tru}`, 5}, {`{".":-}`, 6}, {`{".":1.}`, 7}, {`{".":1e}`, 7}, {`{".":1e999}`, 5},
	} {
		_, err := fieldpath.ParseSet([]byte(c.text))
		var syntax *fieldpath.SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("%s: got error %v", c.text, err)
			continue
		}
		check(t, "offset of the error in "+c.text+", "+err.Error(), syntax.Offset, c.offset)
	}
}

func TestParseSetDepth(t *testing.T) {
	nested := func(depth int) []byte {
		return append(bytes.Repeat([]byte(`{"f:a":`), depth-1), append([]byte(`{}`), bytes.Repeat([]byte(`}`), depth-1)...)...)
	}
	s, err := fieldpath.ParseSet(nested(10000))
	if err != nil || !bytes.Equal(s.AppendJSON(nil), nested(10000)) {
		t.Errorf("at the limit: %v", err)
	}
	if _, err := fieldpath.ParseSet(nested(10001)); err == nil {
		t.Error("no error past the limit")
	}
}

func FuzzParseSet(f *testing.F) {
	var corpus [][]byte
	for _, c := range fieldsV1 {
		corpus = append(corpus, []byte(c.text))
	}
	seeds.Fuzz(f, corpus, func(t *testing.T, text []byte) {
		s, _, canonical, err := paths.ParseCanonical(text)
		var reference smd.Set
		referenceErr := reference.FromJSON(bytes.NewReader(text))
		if err != nil {
			if (referenceErr == nil || referenceErr == io.EOF) && strictFieldsV1(text) {
				t.Fatalf("%q: only the reference reads it: %v", text, err)
			}
			return
		}
		written := s.AppendJSON(nil)
		check(t, "canonical", canonical, bytes.Equal(written, text))
		if again, err := fieldpath.ParseSet(written); err != nil || utf8.Valid(text) && !again.Equal(s) {
			t.Fatalf("%q: written as %q, which is another set or an error: %v", text, written, err)
		}
		if referenceErr != nil && referenceErr != io.EOF {
			t.Fatalf("%q: the reference does not read it: %v", text, referenceErr)
		}
		if want := smdJSON(t, &reference); !unlikeNumber.MatchString(want) {
			check(t, "written", string(written), want)
		}
	})
}

// unlikeNumber matches the numbers that TestNumbersDiffer is about.
var unlikeNumber = regexp.MustCompile(`-0([^.]|$)|[0-9]{16}`)

// strictFieldsV1 reports whether text is JSON, as is what its keys and items are named by. The
// reference also reads some texts that are not.
func strictFieldsV1(text []byte) bool {
	if !json.Valid(text) {
		return false
	}
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		token, err := d.Token()
		if err != nil {
			return err == io.EOF
		}
		if name, ok := token.(string); ok && !strictElement(name) {
			return false
		}
	}
}

func strictElement(wire string) bool {
	return len(wire) < 2 || wire[0] != 'k' && wire[0] != 'v' || json.Valid([]byte(wire[2:]))
}

func FuzzParseElement(f *testing.F) {
	r := newRandom(f)
	corpus := []string{"", "f", "f:", "x:", "i:+07", "i:1_0", "k:null", `k: {"b":1,"a":[]} `, "v:", "v: -0.0e1 ", `v:"\ud800\ud800"`, "v:nullx", `k:{"":{"#0":0}}`}
	for range 100 {
		corpus = append(corpus, r.element().Wire())
	}
	seeds.Fuzz(f, corpus, func(t *testing.T, wire string) {
		e, err := paths.ParseElement(wire)
		reference, referenceErr := smd.DeserializePathElement(wire)
		check(t, "unknown kind", err == paths.UnknownKind(), referenceErr == smd.ErrUnknownPathElementType)
		if err != nil {
			if (referenceErr == nil || referenceErr == io.EOF) && strictElement(wire) {
				t.Fatalf("%q: only the reference reads it: %v", wire, err)
			}
			return
		}
		if again, err := paths.ParseElement(e.Wire()); err != nil || utf8.ValidString(wire) && again != e {
			t.Fatalf("%q: written as %q, which is another element or an error: %v", wire, e.Wire(), err)
		}
		if referenceErr != nil && referenceErr != io.EOF {
			t.Fatalf("%q: the reference does not read it: %v", wire, referenceErr)
		}
		want, err := smd.SerializePathElement(reference)
		if err == nil && !unlikeNumber.MatchString(want) {
			check(t, "wire", e.Wire(), want)
		}
	})
}

// TestParseSetDisorder reads the members of random sets in random order, some of them again.
func TestParseSetDisorder(t *testing.T) {
	r := newRandom(t)
	for range few(rounds) {
		text := r.disorder(r.stock(), 3)
		s, err := fieldpath.ParseSet(text)
		if err != nil {
			t.Fatal(err)
		}
		var reference smd.Set
		if err := reference.FromJSON(bytes.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		check(t, string(text), string(s.AppendJSON(nil)), smdJSON(t, &reference))
	}
}

// disorder returns an object of a fieldsV1.
func (r random) disorder(stock []fieldpath.Element, depth int) []byte {
	if r.IntN(8) == 0 {
		return []byte("null")
	}
	b := []byte("{")
	for i := range r.IntN(5) {
		if i > 0 {
			b = append(b, ',')
		}
		switch r.IntN(8) {
		case 0:
			b = append(b, `".":{}`...)
		case 1:
			b = append(b, `"z:":{"f:a":{}}`...)
		default:
			b = append(appendQuoted(b, pick(r, stock).Wire()), ':')
			if depth == 0 {
				b = append(b, "{}"...)
			} else {
				b = append(b, r.disorder(stock, depth-1)...)
			}
		}
	}
	return append(b, '}')
}

// appendQuoted appends a JSON string in which bytes that are no UTF-8 stay.
func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' {
			b = append(b, `\u00`...)
			b = append(b, strconv.FormatInt(int64(c)+0x100, 16)[1:]...)
		} else {
			b = append(b, c)
		}
	}
	return append(b, '"')
}
