package fieldpath_test

import (
	texts "strings"
	"testing"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/value"
)

// TestCharacters has each character at each place of names and values, in sets of many of them and of one, written as the
// reference writes them: what is plain is copied eight bytes at a time, and what is not must be noticed among them.
func TestCharacters(t *testing.T) {
	var fields, keys, items []fieldpath.Path
	for c := range byte(128) {
		for at := range 18 {
			text := texts.Repeat("a", at) + string(c) + texts.Repeat("b", 20-at)
			fields = append(fields, fieldpath.Path{fieldpath.Field(text)}, fieldpath.Path{fieldpath.Field(text + "/"), fieldpath.Field("x")})
			keys = append(keys, fieldpath.Path{fieldpath.Key(fieldpath.KeyField{Name: "k", Value: value.String(text)})})
			items = append(items, fieldpath.Path{fieldpath.Item(value.String(text))})
		}
	}
	for name, paths := range map[string][]fieldpath.Path{"fields": fields, "keys": keys, "items": items} {
		s := fieldpath.SetOf(paths...)
		text := s.AppendJSON(nil)
		check(t, name, string(text), smdJSON(t, smdSet(t, paths)))
		again, err := fieldpath.ParseSet(text)
		if err != nil || !again.Equal(s) {
			t.Errorf("%s: what is written is read as other than it was (%v)", name, err)
		}
		check(t, name+", read", string(again.AppendJSON(nil)), string(text))
		for _, p := range paths[:len(paths)/8] {
			alone := fieldpath.SetOf(p).AppendJSON(nil)
			check(t, name+", one", string(alone), smdJSON(t, smdSet(t, []fieldpath.Path{p})))
		}
	}
}

// TestDeepMapsAreRefused has fields deeper than any document may be, as a map and as a value: neither is read along.
func TestDeepMapsAreRefused(t *testing.T) {
	inner, deep := map[string]any{}, value.Object()
	for range value.MaxDepth + 10 {
		inner = map[string]any{"f:a": inner}
		deep = value.Object(value.Member{Name: "f:a", Value: deep})
	}
	if s, canonical, err := paths.FromAny(inner); err == nil {
		t.Errorf("a map of %d objects in each other is a set of %d (%t)", value.MaxDepth+10, s.Len(), canonical)
	}
	if s, canonical, err := paths.FromValue(deep); err == nil {
		t.Errorf("a value of %d objects in each other is a set of %d (%t)", value.MaxDepth+10, s.Len(), canonical)
	}
}
