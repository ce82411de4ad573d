package fieldpath_test

import (
	"math/rand/v2"
	"reflect"
	texts "strings"
	"testing"

	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/value"
)

// memberNames are what may name a member of fieldsV1: as it is written, in other ways, and what later releases may write.
var memberNames = []string{
	`".":`, `".":`, `".":`, `".":`, `"\u002e":`, `"f:a":`, `"f:a":`, `"f:a":`, `"f:b":`, `"f:b":`, `"f:":`, `"f:\u0061":`, `"f:<":`, `"f:\u003c":`, `"q:x":`,
	`"k:{\"n\":1}":`, `"k:{\"n\":1.0}":`, `"k:{ \"n\":1}":`, `"k:{\"m\":1,\"n\":1}":`, `"k:{\"n\":1,\"m\":1}":`,
	`"v:1":`, `"v:{\"a\":1,\"b\":2}":`, `"v:{\"b\":1,\"a\":2}":`, `"v:{\"a\":1,\"a\":2}":`, `"v:[1,2]":`, `"i:0":`, `"i:+0":`,
}

// randomFields returns the text of an object of fieldsV1, mostly as it is written.
func randomFields(r *rand.Rand, depth int) string {
	switch n := r.IntN(40); {
	case n == 0:
		return "null"
	case n == 1:
		return "{ }"
	case n < 16 || depth == 0:
		return "{}"
	}
	var members []string
	for range 1 + r.IntN(3) {
		name := memberNames[r.IntN(len(memberNames))]
		below := randomFields(r, depth-1)
		switch {
		case texts.Contains(name, "x") || texts.Contains(name, `"."`) && r.IntN(4) == 0:
			below = []string{"{}", "1", `{"f:a":{}}`, "null"}[r.IntN(4)]
		case texts.Contains(name, `"."`):
			below = "{}"
		}
		members = append(members, name+below)
	}
	if r.IntN(20) == 0 {
		return "{" + texts.Join(members, ", ") + "}"
	}
	return "{" + texts.Join(members, ",") + "}"
}

// A text is canonical exactly when it is what its set is written as; a map of fields, exactly when it is what its set gives as one.
func TestCanonical(t *testing.T) {
	r := seeds.Rand(t)
	count := map[bool]int{}
	for range few(60000) {
		text := randomFields(r, 3)
		s, _, canonical, err := paths.ParseCanonical([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if written := string(s.AppendJSON(nil)); canonical != (written == text) {
			t.Fatalf("%s is canonical: %t; it is written as %s", text, canonical, written)
		}
		count[canonical]++
		v, err := value.Parse([]byte(text))
		if err != nil || v.Kind() != value.KindObject {
			continue // a name twice, or null
		}
		content, _ := v.ToAny().(map[string]any)
		s, canonical, err = paths.FromAny(content)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if again := paths.ToAny(s); canonical && !reflect.DeepEqual(again, content) {
			t.Fatalf("%v is canonical, and its set is %v", content, again)
		} else if canonical != paths.MatchesAny(s, content) {
			t.Fatalf("%v is canonical: %t, and its set matches it: %t", content, canonical, paths.MatchesAny(s, content))
		}
	}
	if count[true] < few(5000) || count[false] < few(5000) {
		t.Errorf("%d texts are canonical, and %d are not", count[true], count[false])
	}
}
