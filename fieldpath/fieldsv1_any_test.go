package fieldpath_test

import (
	"slices"
	"testing"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/value"
)

// TestMatchesAny compares sets, whatever they were made from, with the maps of one of them, in some
// of which something was changed. A set matches exactly those maps that are read as an equal set
// and are written as it is.
func TestMatchesAny(t *testing.T) {
	r := newRandom(t)
	matched, other := 0, 0
	for range few(8000) {
		first := fieldpath.SetOf(r.paths(r.stock())...)
		content := paths.Value(first).ToAny().(map[string]any)
		candidates := []fieldpath.Set{first, fromAny(t, content), {}}
		for range r.IntN(3) {
			r.change(content)
		}
		read, canonical, err := paths.FromAny(content)
		if err == nil {
			candidates = append(candidates, read, read.Union(candidates[1]), candidates[1].Union(read))
		}
		for _, s := range candidates {
			want := err == nil && canonical && read.Equal(s)
			if got := paths.MatchesAny(s, content); got != want {
				t.Fatalf("%v matches %v: got %t, want %t", s, content, got, want)
			}
			if want {
				matched++
			} else {
				other++
			}
		}
	}
	if matched < few(500) || other < few(500) {
		t.Errorf("%d matches and %d others are too few to show anything", matched, other)
	}
}

func fromAny(t *testing.T, content map[string]any) fieldpath.Set {
	t.Helper()
	s, canonical, err := paths.FromAny(content)
	if err != nil || !canonical {
		t.Fatalf("%v: canonical %t, %v", content, canonical, err)
	}
	return s
}

// change makes a change somewhere in content, which may change what it means, or only how that is
// written, or nothing.
func (r random) change(content map[string]any) {
	names := make([]string, 0, len(content))
	for name := range content {
		names = append(names, name)
	}
	slices.Sort(names)
	if len(names) == 0 {
		content[r.name()] = map[string]any{}
		return
	}
	name := pick(r, names)
	below, _ := content[name].(map[string]any)
	switch r.IntN(9) {
	case 0:
		delete(content, name)
	case 1:
		content[r.name()] = map[string]any{}
	case 2:
		delete(content, name)
		content[r.name()] = below
	case 3:
		content[name] = pick(r, []any{nil, 1, "", []any{}, map[string]any(nil), map[string]string{}})
	case 4:
		content[pick(r, names)] = below
	default:
		if below == nil {
			content[name] = map[string]any{}
			return
		}
		r.change(below)
	}
}

// name returns the name of a member of fieldsV1.
func (r random) name() string {
	if r.IntN(3) > 0 {
		return r.element().Wire()
	}
	return pick(r, []string{".", "f", "q:a", "v:1.0", "v:1", `k:{"b":1, "a":2}`, `k:{"a":2,"b":1}`, "k:null", "k:{}", "i:+1", "i:1", "v:\"é\""})
}

// TestSetsOfMapsAreWrittenAlike shows that sets that come from maps, whose texts lie in memory in
// their own way, give what others give, and so does what is made of them.
func TestSetsOfMapsAreWrittenAlike(t *testing.T) {
	r := newRandom(t)
	operations := []func(a, b fieldpath.Set) fieldpath.Set{
		fieldpath.Set.Union, fieldpath.Set.Minus, fieldpath.Set.Intersect, fieldpath.Set.Without,
		func(a, _ fieldpath.Set) fieldpath.Set { return a.Leaves() },
	}
	for range few(2000) {
		stock := r.stock()
		a, b := fieldpath.SetOf(r.paths(stock)...), fieldpath.SetOf(r.paths(stock)...)
		fromMap := fromAny(t, paths.ToAny(a))
		text := a.AppendJSON(nil)
		fromText, err := fieldpath.ParseSet(text)
		if err != nil {
			t.Fatal(err)
		}
		check(t, "text", string(fromMap.AppendJSON(nil)), string(text))
		check(t, "text by itself", paths.JSON(fromMap), string(text))
		for i, operation := range operations {
			want := operation(a, b)
			for j, got := range []fieldpath.Set{
				operation(fromMap, b), operation(fromMap, fromAny(t, paths.ToAny(b))), operation(fromText, fromAny(t, paths.ToAny(b))),
			} {
				if !got.Equal(want) || string(got.AppendJSON(nil)) != string(want.AppendJSON(nil)) || !paths.MatchesAny(got, paths.ToAny(want)) {
					t.Fatalf("operation %d, form %d: got\n%v\nwant\n%v", i, j, got, want)
				}
			}
		}
	}
}

// FuzzFromAny reads documents in both forms. They say the same, and a set matches the maps that it
// was read from exactly if they are canonical.
func FuzzFromAny(f *testing.F) {
	for _, text := range []string{`{"f:a":{".":{},"k:{\"a\":1}":{}}}`, `{".":{}}`, `{"v:1":{},"v:1.0":{}}`, `{"f:a":null,"q:":{}}`, `{"v:\"<\"":{}}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := value.Parse([]byte(text))
		content, ok := v.ToAny().(map[string]any)
		if err != nil || !ok {
			return // no object
		}
		s, canonical, err := paths.FromAny(content)
		want, wantCanonical, wantErr := paths.FromValue(v)
		if canonical != wantCanonical || !s.Equal(want) || (err == nil) != (wantErr == nil) {
			t.Fatalf("%s: got %v (canonical %t, %v), want %v (canonical %t, %v)", text, s, canonical, err, want, wantCanonical, wantErr)
		}
		if err == nil && paths.MatchesAny(s, content) != canonical {
			t.Fatalf("%s: canonical %t, but it matches: %t", text, canonical, !canonical)
		}
		if got := string(s.AppendJSON(nil)); got != string(want.AppendJSON(nil)) {
			t.Fatalf("%s: written as %s, want %s", text, got, want.AppendJSON(nil))
		}
	})
}
