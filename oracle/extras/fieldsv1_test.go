package extras

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	reference "sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/testing/seeds"
)

// checkFieldsV1 checks that deed and the reference decode a text to the same set, or both refuse it. It reports whether they decode it.
func checkFieldsV1(t *testing.T, text string) bool {
	t.Helper()
	var theirs reference.Set
	theirErr := theirs.FromJSON(bytes.NewReader([]byte(text)))
	ours, err := fieldpath.ParseSet([]byte(text))
	if (err == nil) != (theirErr == nil) {
		t.Errorf("%q: error %v, and %v of the reference", text, err, theirErr)
		return false
	}
	if err != nil {
		return false
	}
	want, writeErr := theirs.ToJSON()
	if writeErr != nil {
		t.Fatal(writeErr)
	}
	if got := string(ours.AppendJSON(nil)); got != string(want) {
		t.Errorf("%q is\n%q, and\n%q to the reference", text, got, want)
	}
	return true
}

// TestFieldsV1Texts decodes texts that kube-apiserver accepts although they are not JSON.
func TestFieldsV1Texts(t *testing.T) {
	far := strings.Repeat(" ", 4080) // json-iterator reads 4096 bytes at once
	for _, text := range []string{
		"{\"k:{\\\"name\\\":\\\"\\\\u0041\t\\\"}\":{}}",
		"{\"f:\\u0041\t\":{}}", "{\"f:a\t\":{}}", "{\"f:a\t\\u0041\":{}}", "{\"v:\\\"a\t\\\"\":{}}", "{\"v:\\\"\\\\n\t\\\"\":{}}",
		"{\"x:\\n\t\":{\"\\n\t\":[\"\\n\t\",{\"\\n\t\":1}]}}", "{\".\":\"\\n\x01\"}",
		far + "{\"f:aaaaaaaaaaaaaaaaaaaaaaaaa\t\":{}}", far + "{\"f:a\taaaaaaaaaaaaaaaaaaaaaaa\":{}}",
		far + "{\"x:\":\"aaaaaaaaaaaaaaaaaaaaaaa\t\"}", strings.Repeat(" ", 4094) + "{\"f:\t\":{}}", strings.Repeat(" ", 4095) + "{\"f:\t\":{}}",
		`{"k:{\"a\":1,null:2}":{}}`, `{"k:{null:2}":{}}`, `{"f:a":{},null:{}}`, `{"x:":{"a":1,null:2}}`, `{"v:{\"a\":1,null:2}":{}}`,
		`{"f:\ud800":{},"f:\ud800\u0041":{},"f:\ud800\ud800\udc00":{}}`, "{\"f:\xff\":{},\"k:{\\\"\xfe\\\":\\\"\xed\xa0\x80\\\"}\":{}}",
	} {
		checkFieldsV1(t, text)
	}
}

// fieldsV1Pieces are inserted into texts to damage them.
var fieldsV1Pieces = []string{
	"\t", "\n", "\x00", "\x1f", `\n`, `\u0041`, `\\u0041`, `\\n`, `\ud800`, `\udc00`, `\\ud83d`, "\xff", "\xc3", "é", `"`, `\"`, "null", ",", ":", "{", "}",
	"[", "]", "1", "-", "1e5", "1.5", `"f:a":{},`, `"f:<&":{},`, `".":{},`, `"x:":[1],`, `"k:{}":{},`, `"k:{\"b\":1,\"a\":2}":{},`, `"v:[1,{\"b\":2}]":{},`, `"i:7":{},`, "true",
	" ", "a",
}

// damaged returns a text close to a valid fieldsV1.
func damaged(r *rand.Rand) string {
	text := `{"f:metadata":{"f:labels":{".":{},"f:app":{},"f:a\u0041b":{}}},"f:spec":{".":{},"f:ports":{"k:{\"port\":80,\"protocol\":\"T\\u0043P\"}":{".":{},"f:port":{}}},` +
		`"f:finalizers":{".":{},"v:\"a\\n\"":{},"v:1.5":{}},"i:0":{}},"x:later":{"f:a":["\n",{"b":null}]}}`
	if r.IntN(2) == 0 {
		cut := r.IntN(len(text))
		text = text[:cut] + fieldsV1Pieces[r.IntN(len(fieldsV1Pieces))] + text[cut:]
	} else {
		text = fmt.Sprintf(`{"f:a\n":{"v:\"%s\\n%s\"":{"f:%s":{}},"k:{\"a\":\"%[1]s\",\"b\":%[3]s}":{}}}`, fieldsV1Pieces[r.IntN(len(fieldsV1Pieces))],
			fieldsV1Pieces[r.IntN(len(fieldsV1Pieces))], fieldsV1Pieces[r.IntN(len(fieldsV1Pieces))])
	}
	for range r.IntN(3) {
		at := r.IntN(len(text))
		text = text[:at] + fieldsV1Pieces[r.IntN(len(fieldsV1Pieces))] + text[min(at+r.IntN(3), len(text)):]
	}
	return text
}

// TestDamagedFieldsV1 decodes random texts, most of which are invalid.
func TestDamagedFieldsV1(t *testing.T) {
	r := seeds.Rand(t)
	read := 0
	for range 40 * rounds {
		if checkFieldsV1(t, damaged(r)) {
			read++
		}
	}
	if read < rounds {
		t.Errorf("only %d texts were read", read)
	}
}
