package fieldpath_test

import (
	"reflect"
	"testing"
	"unicode/utf8"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/value"
)

// TestValueIsText shows that the two forms of fieldsV1 are the same document, and read the same.
func TestValueIsText(t *testing.T) {
	r := newRandom(t)
	for range few(2000) {
		want := fieldpath.SetOf(r.paths(r.stock())...)
		doc := paths.Value(want)
		text := want.AppendJSON(nil)
		if utf8.Valid(text) { // names need not be
			if parsed, err := value.Parse(text); err != nil || !doc.Equal(parsed) {
				t.Fatalf("got %v\nwant %v %v", doc, parsed, err)
			}
		}
		got, canonical, err := paths.FromValue(doc)
		if err != nil || !canonical || !got.Equal(want) {
			t.Fatalf("%v: got %v %t %v", doc, got, canonical, err)
		}
		content := paths.ToAny(want)
		if !reflect.DeepEqual(content, doc.ToAny()) {
			t.Fatalf("got %v\nwant %v", content, doc)
		}
		got, canonical, err = paths.FromAny(content)
		if err != nil || !canonical || !got.Equal(want) {
			t.Fatalf("%v: got %v %t %v", content, got, canonical, err)
		}
	}
}

func TestFromValueOfOtherSpellings(t *testing.T) {
	for _, text := range []string{
		`null`, `{".":{}}`, `{"f:a":null}`, `{"f:a":{".":{}}}`, `{"f:a":{".":1,"f:b":{}}}`, `{"q:a":{}}`, `{"f:a":{"q:b":{}}}`, `{"v:1.0":{}}`,
		`{"v:1":{"f:a":{}},"v:1.0":{"f:b":{}}}`, `{"k:{\"b\":1, \"a\":2}":{}}`, `{"i:+1":{}}`,
	} {
		v, err := value.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		got, canonical, err := paths.FromValue(v)
		if err != nil || canonical {
			t.Errorf("%s: canonical %t, %v", text, canonical, err)
		}
		want, err := fieldpath.ParseSet(v.AppendJSON(nil))
		if err != nil || !got.Equal(want) {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
		if content, ok := v.ToAny().(map[string]any); ok {
			if got, canonical, err = paths.FromAny(content); err != nil || canonical || !got.Equal(want) {
				t.Errorf("%s: got %v from maps (canonical %t, %v), want %v", text, got, canonical, err, want)
			}
		}
	}
	for _, text := range []string{`1`, `[]`, `"x"`, `{"f":{}}`, `{"f:a":1}`, `{"k:1":{}}`} {
		v, err := value.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got, _, err := paths.FromValue(v); err == nil {
			t.Errorf("%s was read as %v", text, got)
		}
	}
}
