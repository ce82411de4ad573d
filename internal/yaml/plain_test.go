package yaml

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/value"
)

// plainTexts have the simple form of [readPlain]; oddTexts have it only nearly.
var plainTexts = []string{
	"a: 1\n", "---\na: 1\n", "- a\n- b\n", "a:\n- b\n- c: d\n  e: f\n-\n- - x\n  - y\ng:\n", "a:\n  b:\n    c: {}\nd: []\n",
	"a: |\n  x\n   y\n\n  z\n\nb: |-\n  x\n\n", "- |\n  x\n- |-\n  y\n", "f:metadata:\n  f:labels:\n    .: {}\n    f:app: {}\n",
	"k:{\"name\":\"web\"}:\n  .: {}\n", "'k:{\"a\":\"b: c\"}': x\n\"y\": 'n'\nno: no\n012: 012\n", "a: x: y\n", "a: b:c\nd: e#f\n",
	"a:   b  c\n", "-   - a\n    - b\n", "- a: b\n  c:\n  - d\n", "a:\n    - b\n    -\n      c: d\n", "é: ü\n", "a: -1\nb: -.5\nc: 1_0\n",
	"- 'a'\n- 'a': b\n- \"a\": \"b\"\n", "a: '<<'\n'<<': b\n", "a: |\n  # x\n",
}

var oddTexts = []string{
	"a: b\n  c\n", "a: b\n c: d\n", "- a\n b\n", "a: 1\na: 2\n", "a: 'it''s'\n", "a: \"x\\n\"\n", "a: [b]\n", "<<: {}\n", "a: &x b\nc: *x\n",
	"? a\n: b\n", "a: b # c\n", "# c\na: b\n", "a:\t b\n", "a: b\r\n", "a: b", "a: |\n\n  b\n", "a: |\n    b\n  c\n", "a: >\n  b\n", "a: |+\n  b\n\n",
	"a: |2\n   b\n", "a: 1\n- b\n", "a:\n  b: 1\n c: 2\n", "a: 1\n---\nb: 2\n", "...\n", "a: ...\n", "--- a\n", "%a: b\n", "a: !!str 1\n", "a : b\n",
	"a: .inf\n", "null: a\n", "~: a\n", "a: 'b' c\n", "'a' : b\n", "a: |\n b\n  c\nd: e\n", "a: |\n    \n  b\n", "a:\n  |\n  b\n", "a: - b\n", "-a: b\n",
	"a: \u2028\n", "a\u0085b: c\n", "- - a\n - b\n", "a: ?\n", ": a\n", "a: @b\n", "a: |\nb: c\n", "- |\nb\n", "a:\n- |\n b\n", "a: 1e400\n1e400: b\n", "",
	"\xfe\xff\x00a", "a: \"b\n", "a: b: c\n", "a: b:\n", "- a:b\n-a\n", "- -\n- -  b\n",
}

// checkPlain compares readPlain with the nodes of the text: value and places. It reports whether readPlain accepts the text.
func checkPlain(t *testing.T, text []byte) bool {
	t.Helper()
	if checkText(text) != nil {
		return false
	}
	got, ok := readPlain(text)
	if !ok {
		return false
	}
	want, err := parseNodes(text, false)
	if err != nil || len(want) != 1 {
		t.Fatalf("%q is read as %v, but nodes: %d documents, %v", text, got.Value, len(want), err)
	}
	if got.Value.String() != want[0].Value.String() || !got.Value.Equal(want[0].Value) {
		t.Fatalf("%q is read as\n%v\nbut by nodes as\n%v", text, got.Value, want[0].Value)
	}
	var compare func(v value.Value, path []any)
	compare = func(v value.Value, path []any) {
		if a, b := places(got, path), places(want[0], path); a != b {
			t.Fatalf("%q: %v stands at %s, but by nodes at %s", text, path, a, b)
		}
		for name, m := range v.Members() {
			compare(m, append(path, name))
		}
		for i := range v.Len() {
			if v.Kind() == value.KindList {
				compare(v.Item(i), append(path, i))
			}
		}
	}
	compare(got.Value, nil)
	return true
}

func places(d Document, path []any) string {
	kl, kc := d.KeyPosition(path...)
	l, c := d.Position(path...)
	return fmt.Sprint(d.Line, kl, kc, l, c)
}

func TestPlain(t *testing.T) {
	for _, text := range plainTexts {
		if !checkPlain(t, []byte(text)) && text != "a: x: y\n" && text != "a: |\n  # x\n" {
			t.Errorf("%q has the simple form, but is not read", text)
		}
	}
	for _, text := range oddTexts {
		checkPlain(t, []byte(text))
	}
	for _, c := range rules {
		checkPlain(t, []byte(c.text))
	}
}

// TestPlainPrinted checks that readPlain accepts the output of Append for the objects of the repository. It allows for the few objects
// whose strings need escapes or other blocks.
func TestPlainPrinted(t *testing.T) {
	files, err := filepath.Glob("../../testdata/manifests/*/a.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no manifests: %v", err)
	}
	plain := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		docs, err := Parse(file, data)
		if err != nil {
			t.Fatal(err)
		}
		if checkPlain(t, Append(nil, docs[0].Value)) {
			plain++
		}
	}
	if plain*10 < len(files)*8 {
		t.Errorf("%d of %d printed objects have the simple form", plain, len(files))
	}
}

// TestPlainChanged checks texts that differ from plain ones by small changes.
func TestPlainChanged(t *testing.T) {
	r := seeds.Rand(t)
	pieces := []string{" ", "  ", "\n", "-", "- ", ":", ": ", "#", "'", "\"", "|", "|-\n", "a", "0", "\n  ", "[]", "{}", "?", "...", "---", "é", "!", "&a", "*a", "<<", "~", ","}
	read := 0
	texts := slices.Concat(plainTexts, plainTexts, oddTexts)
	for range 40000 {
		text := []byte(texts[r.IntN(len(texts))])
		for range 1 + r.IntN(3) {
			at := r.IntN(len(text) + 1)
			to := min(at+r.IntN(3), len(text))
			text = bytes.Join([][]byte{text[:at], text[to:]}, []byte(pieces[r.IntN(len(pieces))]))
		}
		if checkPlain(t, text) {
			read++
		}
	}
	if read < 2000 {
		t.Errorf("only %d of the changed texts are plain", read)
	}
}

// FuzzPlain compares readPlain with nodes.
func FuzzPlain(f *testing.F) {
	for _, text := range slices.Concat(plainTexts, oddTexts) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) { checkPlain(t, text) })
}
