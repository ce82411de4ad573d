package yaml

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/value"
	"github.com/google/go-cmp/cmp"
)

// printed pairs values in JSON with the output of sigs.k8s.io/yaml v1.6.0.
var printed = []struct{ value, want string }{
	{`""`, "\"\"\n"},
	{`"a"`, "a\n"},
	{`"y"`, "\"y\"\n"},
	{`"Yes"`, "\"Yes\"\n"},
	{`"true"`, "\"true\"\n"},
	{`"null"`, "\"null\"\n"},
	{`"~"`, "\"~\"\n"},
	{`"012"`, "\"012\"\n"},
	{`"0o12"`, "\"0o12\"\n"},
	{`"1_000"`, "\"1_000\"\n"},
	{`"0x1f"`, "\"0x1f\"\n"},
	{`"1e3"`, "\"1e3\"\n"},
	{`"1.5"`, "\"1.5\"\n"},
	{`".5"`, "\".5\"\n"},
	{`"+1"`, "\"+1\"\n"},
	{`"-"`, "'-'\n"},
	{`"--"`, "--\n"},
	{`"---"`, "'---'\n"},
	{`"-a"`, "-a\n"},
	{`"- a"`, "'- a'\n"},
	{`"?"`, "'?'\n"},
	{`"? a"`, "'? a'\n"},
	{`"?a"`, "?a\n"},
	{`":"`, "':'\n"},
	{`":a"`, ":a\n"},
	{`"a:"`, "'a:'\n"},
	{`"a: b"`, "'a: b'\n"},
	{`"a:b"`, "a:b\n"},
	{`"a #b"`, "'a #b'\n"},
	{`"a#b"`, "a#b\n"},
	{`"#a"`, "'#a'\n"},
	{`"12:30:45"`, "\"12:30:45\"\n"},
	{`"10.0.0.1"`, "10.0.0.1\n"},
	{`"1.2.3"`, "1.2.3\n"},
	{`"2001-01-01"`, "\"2001-01-01\"\n"},
	{`"2001-01-01T00:00:00Z"`, "\"2001-01-01T00:00:00Z\"\n"},
	{`"2001-01-01 00:00:00"`, "\"2001-01-01 00:00:00\"\n"},
	{`".."`, "..\n"},
	{`"..."`, "'...'\n"},
	{`"@a"`, "'@a'\n"},
	{"\"`a`\"", "'`a`'\n"},
	{`"%a"`, "'%a'\n"},
	{`"!a"`, "'!a'\n"},
	{`"&a"`, "'&a'\n"},
	{`"*a"`, "'*a'\n"},
	{`"[a"`, "'[a'\n"},
	{`"]"`, "']'\n"},
	{`"{"`, "'{'\n"},
	{`"a]"`, "a]\n"},
	{`"'a'"`, "'''a'''\n"},
	{`"it's"`, "it's\n"},
	{`"\"a\""`, "'\"a\"'\n"},
	{`"a\"b"`, "a\"b\n"},
	{`"a\\b"`, "a\\b\n"},
	{`" a"`, "' a'\n"},
	{`"a "`, "'a '\n"},
	{`"a\tb"`, "\"a\\tb\"\n"},
	{`"\u00e9"`, "é\n"},
	{`"\u00a0"`, "\u00a0\n"},
	{`"\ud83d\ude00"`, "\"\\U0001F600\"\n"},
	{`"a\r\nb"`, "\"a\\r\\nb\"\n"},
	{`"<<a"`, "<<a\n"},
	{`"=a"`, "=a\n"},
	{`"100m"`, "100m\n"},
	{`"500Mi"`, "500Mi\n"},
	{`"1Gi"`, "1Gi\n"},
	{`"v1"`, "v1\n"},
	{`"0"`, "\"0\"\n"},
	{`"-0"`, "\"-0\"\n"},
	{`"null "`, "'null '\n"},
	{`"NaN"`, "NaN\n"},
	{`".nan"`, "\".nan\"\n"},
	{`".inf"`, "\".inf\"\n"},
	{`"Infinity"`, "Infinity\n"},
	{`"a\nb"`, "|-\n  a\n  b\n"},
	{`"a\nb\n"`, "|\n  a\n  b\n"},
	{`"a\n\n"`, "|+\n  a\n\n"},
	{`"\n"`, "|2+\n\n"},
	{`"\na"`, "|2-\n\n  a\n"},
	{`"\n\n"`, "|2+\n\n\n"},
	{`" a\nb"`, "|2-\n   a\n  b\n"},
	{`"a\n b"`, "|-\n  a\n   b\n"},
	{`"a \nb"`, "\"a \\nb\"\n"},
	{`"a\nb "`, "\"a\\nb \"\n"},
	{`"a\tb\nc"`, "\"a\\tb\\nc\"\n"},
	{`"a\n\n\nb\n"`, "|\n  a\n\n\n  b\n"},
	{`"the quick brown fox jumps over the lazy dog and the quick brown fox jumps over the lazy dog again and again"`, "the quick brown fox jumps over the lazy dog and the quick brown fox jumps over the\n  lazy dog again and again\n"},
	{`"the quick: brown fox jumps over the lazy dog and it's the quick brown fox that jumps over the lazy dog again  and again"`, "'the quick: brown fox jumps over the lazy dog and it''s the quick brown fox that jumps\n  over the lazy dog again  and again'\n"},
	{`"the quick\tbrown fox jumps over the lazy dog and it's the quick brown fox that jumps over the lazy dog again  and \"again\""`, "\"the quick\\tbrown fox jumps over the lazy dog and it's the quick brown fox that jumps\n  over the lazy dog again  and \\\"again\\\"\"\n"},
	{`"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa b"`, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n  b\n"},
	{`null`, "null\n"},
	{`true`, "true\n"},
	{`false`, "false\n"},
	{`0`, "0\n"},
	{`-1`, "-1\n"},
	{`9223372036854775807`, "9223372036854775807\n"},
	{`1.5`, "1.5\n"},
	{`-0.25`, "-0.25\n"},
	{`1e20`, "1e+20\n"},
	{`1e21`, "1e+21\n"},
	{`1e-7`, "1e-07\n"},
	{`10000000000000000000`, "10000000000000000000\n"},
	{`1234567.5`, "1.2345675e+06\n"},
	{`0.1`, "0.1\n"},
	{`[]`, "[]\n"},
	{`{}`, "{}\n"},
	{`[[]]`, "- []\n"},
	{`[{}]`, "- {}\n"},
	{`{"a": {}}`, "a: {}\n"},
	{`{"a": []}`, "a: []\n"},
	{`[[1, 2], [3, [4]]]`, "- - 1\n  - 2\n- - 3\n  - - 4\n"},
	{`{"a": [1, {"b": 2, "c": [3]}], "d": {"e": {"f": null}}}`, "a:\n- 1\n- b: 2\n  c:\n  - 3\nd:\n  e:\n    f: null\n"},
	{`[{"a": 1, "b": 2}, {"a": {"b": 3}}]`, "- a: 1\n  b: 2\n- a:\n    b: 3\n"},
	{`{"a": "x\ny\n", "b": ["x\ny", "\n"], "c": {"d": " x\n"}}`, "a: |\n  x\n  y\nb:\n- |-\n  x\n  y\n- |2+\n\nc:\n  d: |2\n     x\n"},
	{`{"y": 1, "": 2, "1": 3, "a b": 4, "a: b": 5, " ": 6, "null": 7, "#": 8, "it's": 9, "a\tb": 10}`, "\"\": 2\n' ': 6\n'#': 8\n\"1\": 3\n\"a\\tb\": 10\na b: 4\n'a: b': 5\nit's: 9\n\"null\": 7\n\"y\": 1\n"},
	{`{"a\nb": 1, "a\nc": {"d": 2}, "a\nd": [3], "a\ne": "x\ny"}`, "? |-\n  a\n  b\n: 1\n? |-\n  a\n  c\n: d: 2\n? |-\n  a\n  d\n: - 3\n? |-\n  a\n  e\n: |-\n  x\n  y\n"},
	{`{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa": 1, "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb": 2}`, "? aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n: 1\nbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb: 2\n"},
	{`{"item10": 1, "item2": 2, "Item1": 3, "item-1": 4, "item.1": 5, "item_1": 6, "item": 7, "item01": 8, "item1": 9, "10": 10, "9": 11, "\u00e9": 12, "z": 13, "x100": 14, "x12": 15, "x1.5": 16, "x10.5": 17, "kubernetes.io/name": 18, "kubernetes-io": 19, "kubernetesio": 20}`, "\"9\": 11\n\"10\": 10\nItem1: 3\nitem: 7\nitem-1: 4\nitem.1: 5\nitem_1: 6\nitem1: 9\nitem01: 8\nitem2: 2\nitem10: 1\nkubernetes-io: 19\nkubernetes.io/name: 18\nkubernetesio: 20\nx1.5: 16\nx10.5: 17\nx12: 15\nx100: 14\nz: 13\né: 12\n"},
}

func TestAppend(t *testing.T) {
	for _, c := range printed {
		if got := string(Append(nil, mustJSON(t, c.value))); got != c.want {
			t.Errorf("%s:\ngot  %q\nwant %q", c.value, got, c.want)
		}
		checkRoundTrip(t, mustJSON(t, c.value))
	}
}

// safer has values whose output by kubectl other parsers, or kubectl's own, read as another value.
var safer = []struct{ value, kubectl, want string }{
	{`"<<"`, "<<\n", "\"<<\"\n"},
	{`"="`, "=\n", "\"=\"\n"},
	{`"1e400"`, "1e400\n", "\"1e400\"\n"},
	{`"0x1ffffffffffffffff"`, "0x1ffffffffffffffff\n", "\"0x1ffffffffffffffff\"\n"},
	{`"2001-12-14 21:59:43 -5"`, "2001-12-14 21:59:43 -5\n", "\"2001-12-14 21:59:43 -5\"\n"},
	{`{"<<":{"a":1}}`, "<<:\n  a: 1\n", "\"<<\":\n  a: 1\n"},
	{`"a\u0085b"`, "a b\n", "\"a\\Nb\"\n"},
	{`"a\u2028b"`, "'a\u2028  b'\n", "\"a\\Lb\"\n"},
	{`"\ufeffa"`, "\"\\uFEFF\\x61\"\n", "\"\\uFEFFa\"\n"},
	{`"\u007f"`, "an error", "\"\\x7F\"\n"},
	{`1.2345678901234568e18`, "1234567890123456800\n", "1234567890123456768\n"},
}

func TestAppendSafer(t *testing.T) {
	for _, c := range safer {
		got := string(Append(nil, mustJSON(t, c.value)))
		if got != c.want {
			t.Errorf("%s (kubectl: %q):\ngot  %q\nwant %q", c.value, c.kubectl, got, c.want)
		}
		checkRoundTrip(t, mustJSON(t, c.value))
	}
}

func TestAppendOddValues(t *testing.T) {
	if got, want := string(Append([]byte("a: 1\n"), value.Value{})), "a: 1\nnull\n"; got != want {
		t.Errorf("absent behind a line: got %q, want %q", got, want)
	}
	if got, want := string(Append(nil, value.String("a\xffb"))), "a\ufffdb\n"; got != want {
		t.Errorf("not UTF-8: got %q, want %q", got, want)
	}
}

// TestAppendObjects compares whole objects with the output of sigs.k8s.io/yaml v1.6.0.
func TestAppendObjects(t *testing.T) {
	text, err := os.ReadFile("testdata/objects.json")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/objects.yaml")
	if err != nil {
		t.Fatal(err)
	}
	objects, err := Parse("objects.json", text)
	if err != nil {
		t.Fatal(err)
	}
	var got []byte
	for i, o := range objects {
		if i > 0 {
			got = append(got, "---\n"...)
		}
		got = Append(got, o.Value)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	again, err := Parse("objects.yaml", got)
	if err != nil || len(again) != len(objects) {
		t.Fatalf("read back %d documents, error %v", len(again), err)
	}
	for i := range again {
		if !again[i].Value.Equal(objects[i].Value) {
			t.Errorf("object %d reads back as %s", i, again[i].Value)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	r := seeds.Rand(t)
	for range 5000 {
		checkRoundTrip(t, randomValue(r, 4))
	}
}

// checkRoundTrip checks that Parse inverts Append, and that Append then gives the same text.
func checkRoundTrip(t *testing.T, v value.Value) {
	t.Helper()
	text := Append(nil, v)
	docs, err := Parse("", text)
	if err != nil || len(docs) != 1 {
		t.Fatalf("%s\nprints as\n%s\nwhich reads as %d documents, error %v", v, text, len(docs), err)
	}
	if got := docs[0].Value; !got.Equal(v) {
		t.Fatalf("%s\nprints as\n%s\nwhich reads as\n%s", v, text, got)
	}
	if again := Append(nil, docs[0].Value); string(again) != string(text) {
		t.Fatalf("%s\nprints as\n%s\nand then as\n%s", v, text, again)
	}
}

func mustJSON(t *testing.T, text string) value.Value {
	t.Helper()
	v, err := value.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// pieces are the parts of random strings: all texts with a meaning in YAML.
var pieces = strings.Split("a|b|Z|é|緑|🌱| |  |\n|\n\n|\t|\r|\x00|\x1b|\x7f|\u0085|\u00a0|\u2028|\ufeff|\uffff|: |:|#| #|-|- |---|...|'|\"|\\|"+
	"1|0|01|0x1f|1e400|.|_|e|+|y|no|true|null|~|<<|=|{|}|[|]|,|>|%|@|`|!|&|*|?|? |2001-01-01|12:30|"+
	"a sentence with many words that goes on and on |aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "|")

func randomString(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(6) {
		b.WriteString(pieces[r.IntN(len(pieces))])
		if r.IntN(20) == 0 {
			b.WriteByte('|')
		}
	}
	return b.String()
}

func randomValue(r *rand.Rand, depth int) value.Value {
	kind := r.IntN(10)
	if depth == 0 {
		kind = r.IntN(6)
	}
	switch kind {
	case 0:
		return []value.Value{value.Null(), value.Bool(true), value.Bool(false)}[r.IntN(3)]
	case 1:
		return value.Int(int64(r.Uint64()) >> r.IntN(64))
	case 2:
		return value.Float((r.Float64() - 0.5) * []float64{1e-9, 1, 1e6, 1e18, 1e20, 1e300}[r.IntN(6)])
	case 3, 4, 5:
		return value.String(randomString(r))
	case 6, 7:
		items := make([]value.Value, r.IntN(4))
		for i := range items {
			items[i] = randomValue(r, depth-1)
		}
		return value.List(items...)
	}
	object := value.Object()
	for range r.IntN(5) {
		object = object.With(randomString(r), randomValue(r, depth-1))
	}
	return object
}

// TestWrite checks that Write, with its small buffer, gives the text of Append.
func TestWrite(t *testing.T) {
	r := seeds.Rand(t)
	for size := range 40 {
		var members []value.Member
		for i := range size * 50 {
			text := strings.Repeat("some words \"'# ", r.IntN(12)) + strings.Repeat("x\n", r.IntN(3))
			items := value.List(value.List(value.String(text)), value.Object(value.Member{Name: text, Value: value.Int(int64(i))}))
			members = append(members, value.Member{Name: fmt.Sprint("name", i), Value: items})
		}
		var got bytes.Buffer
		v := value.Object(members...)
		if err := Write(&got, v); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(Append(nil, v)), got.String()); diff != "" {
			t.Fatalf("%d members: %s", size*50, diff)
		}
	}
}
