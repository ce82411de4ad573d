package strategic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/strategicpatch"
	kjson "sigs.k8s.io/json"

	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/value"
)

// thing has fields with all kinds of merged lists.
type thing struct {
	Text     string            `json:"text"`
	Number   int               `json:"number"`
	Labels   map[string]string `json:"labels"`
	Inner    *thing            `json:"inner"`
	Whole    *thing            `json:"whole" patchStrategy:"replace"`
	Kept     *thing            `json:"kept" patchStrategy:"retainKeys"`
	Atomic   []string          `json:"atomic"`
	Texts    []string          `json:"texts" patchStrategy:"merge"`
	Numbers  []int             `json:"numbers" patchStrategy:"merge"`
	Objects  []thing           `json:"objects"`
	Things   []thing           `json:"things" patchStrategy:"merge" patchMergeKey:"text"`
	Counted  []thing           `json:"counted" patchStrategy:"merge,retainKeys" patchMergeKey:"number"`
	Keyless  []thing           `json:"keyless" patchStrategy:"merge"`
	Strange  []thing           `json:"strange" patchStrategy:"merge,atomic" patchMergeKey:"text"`
	Squared  [][]string        `json:"squared" patchStrategy:"merge"`
	Pointers []*thing          `json:"pointers" patchStrategy:"merge" patchMergeKey:"text"`
}

// maker makes random objects and patches.
type maker struct{ *rand.Rand }

func (m maker) one(of ...string) string { return of[m.IntN(len(of))] }

func (m maker) text() string { return m.one("a", "b", "c", "d", "e") }

func (m maker) object(depth int, patch bool) map[string]any {
	out := map[string]any{}
	for range m.IntN(5) {
		name := m.one("text", "number", "labels", "inner", "whole", "kept", "atomic", "texts", "numbers", "objects", "things", "counted",
			"things", "counted", "texts", "pointers")
		if m.IntN(60) == 0 {
			name = m.one("keyless", "strange", "squared", "unknown")
		}
		out[name] = m.member(name, depth, patch)
	}
	if !patch {
		return out
	}
	if m.IntN(30) == 0 {
		out["$patch"] = m.any("replace", "delete", "merge", 5)
	}
	if m.IntN(12) == 0 {
		kept := []any{}
		for name := range out {
			if m.IntN(20) > 0 {
				kept = append(kept, name)
			}
		}
		for range m.IntN(3) {
			kept = append(kept, m.one("text", "things", "texts", "labels"))
		}
		out["$retainKeys"] = kept
	}
	if m.IntN(5) == 0 {
		name := m.one("texts", "numbers", "atomic", "things")
		if _, both := out[name]; !both { // the library's order of the two is random
			out["$deleteFromPrimitiveList/"+name] = m.member(name, depth, false)
		}
	}
	if m.IntN(3) == 0 {
		name := m.one("texts", "numbers", "things", "things", "counted", "atomic", "objects")
		if _, deletes := out["$deleteFromPrimitiveList/"+name]; !deletes {
			out["$setElementOrder/"+name] = m.order(name, out[name])
		}
	}
	return out
}

func (m maker) any(of ...any) any { return of[m.IntN(len(of))] }

func (m maker) member(name string, depth int, patch bool) any {
	switch {
	case patch && m.IntN(8) == 0:
		return nil
	case m.IntN(80) == 0:
		return m.any("x", 1, true, 1.5, []any{}, map[string]any{})
	}
	list := func(item func() any) any {
		out := []any{}
		for range m.IntN(6) {
			v := item()
			if _, object := v.(map[string]any); object || !slices.ContainsFunc(out, func(had any) bool { return reflect.DeepEqual(had, v) }) {
				out = append(out, v)
			}
		}
		return out
	}
	switch name {
	case "text":
		return m.text()
	case "number":
		return m.IntN(4)
	case "labels":
		out := map[string]any{}
		for range m.IntN(4) {
			out[m.text()] = m.text()
			if patch && m.IntN(3) == 0 {
				out[m.text()] = nil
			}
		}
		return out
	case "atomic", "texts":
		return list(func() any { return m.text() })
	case "numbers":
		return list(func() any { return m.IntN(6) })
	case "squared":
		return list(func() any { return []any{m.text()} })
	case "inner", "whole", "kept":
		if depth == 0 {
			return map[string]any{"text": m.text()}
		}
		return m.object(depth-1, patch)
	}
	return list(func() any {
		item := map[string]any{}
		if depth > 0 && m.IntN(2) == 0 {
			item = m.object(depth-1, patch)
		}
		if m.IntN(60) > 0 {
			item["text"], item["number"] = m.text(), m.IntN(5)
		}
		if m.IntN(20) == 0 {
			item["text"] = nil
		}
		delete(item, "$patch")
		if patch && m.IntN(6) == 0 {
			item["$patch"] = m.any("delete", "delete", "delete", "delete", "replace")
			if m.IntN(20) == 0 {
				item["$patch"] = m.any("merge", "x", 1)
			}
		}
		return item
	})
}

// order returns an order for the items of a list in a patch, mostly a valid one.
func (m maker) order(name string, items any) any {
	if m.IntN(40) == 0 {
		return m.any(nil, "x", []any{})
	}
	out := []any{}
	add := func(item any) {
		if object, ok := item.(map[string]any); ok {
			item = map[string]any{"text": object["text"], "number": object["number"]}
		}
		out = append(out, item)
	}
	more := func() {
		for range m.IntN(3) {
			if list, ok := m.member(name, 0, false).([]any); ok && len(list) > 0 {
				add(list[0])
			}
		}
	}
	more()
	if list, ok := items.([]any); ok {
		for _, item := range list {
			if object, ok := item.(map[string]any); !ok || object["$patch"] == nil {
				add(item)
			}
			more()
		}
	}
	if m.IntN(10) == 0 {
		m.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	}
	return out
}

// library applies a patch as kube-apiserver does, and returns what is left of the patch, too. It recovers the library's panics.
func library(t *testing.T, object, patch []byte) (out any, left map[string]any, panicked any, err error) {
	t.Helper()
	var o, p map[string]any
	for text, into := range map[*map[string]any][]byte{&o: object, &p: patch} {
		if _, err := kjson.UnmarshalStrict(into, text); err != nil {
			t.Fatal(err)
		}
	}
	clip(o)
	defer func() { panicked = recover() }()
	out, err = strategicpatch.StrategicMergeMapPatch(o, p, &thing{})
	if m, ok := out.(strategicpatch.JSONMap); ok {
		out = map[string]any(m)
	}
	return out, p, nil, err
}

// clip removes spare capacity from lists. With spare capacity, the library changes lists in place while it reads them.
func clip(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name := range v {
			v[name] = clip(v[name])
		}
	case []any:
		for i := range v {
			v[i] = clip(v[i])
		}
		return slices.Clip(v)
	}
	return v
}

// TestLikeTheLibrary compares with the library. The library walks maps in random order: of several faults in one object, it names the first
// that it meets. So the test compares faults in narrowed patches, in which each object has one place for a fault. For the whole patch, deed
// must name a fault that the library names in one of the narrowed patches.
func TestLikeTheLibrary(t *testing.T) {
	patches := 60_000
	if testing.Short() {
		patches = 6_000
	}
	m := maker{seeds.Rand(t)}
	good, shrank, refused := 0, 0, map[string]int{}
	for range patches {
		object, patch := m.object(2, false), m.object(2, true)
		of := compare(t, object, patch)
		if of.shrank {
			shrank++
		}
		if of.library == "" && of.deed == "" && !of.panics {
			good++
			continue
		}
		panics, faults := of.panics, map[string]bool{}
		for _, path := range paths(patch) {
			narrow := narrowed(patch, path).(map[string]any)
			one := compare(t, object, narrow)
			if one.library != one.deed && !one.panics {
				t.Fatalf("%s\nwith %s\nsays %v\nwant %v", mustJSON(object), mustJSON(narrow), one.deed, one.library)
			}
			panics, faults[fault(one.library)] = panics || one.panics, true
		}
		if !panics && (of.library == "" || !faults[fault(of.deed)]) {
			t.Fatalf("%s\nwith %s\nsays %v\nwant one of %q", mustJSON(object), mustJSON(patch), of.deed, slices.Collect(maps.Keys(faults)))
		}
		refused[fault(of.deed)]++
	}
	if good < patches/2 || shrank < patches/20 || len(refused) < 8 {
		t.Errorf("of %d patches %d are applied, %d leave less, and others are refused for %v", patches, good, shrank, refused)
	}
}

// verdict is the outcome of a patch in the library and in deed: an error or none. The library may also panic. shrank tells that less than the
// patch is left of it, and that this was compared.
type verdict struct {
	library, deed  string
	panics, shrank bool
}

// compare applies a patch. If both succeed, it compares the outcomes, and what is left of the patch.
func compare(t *testing.T, object, patch map[string]any) (of verdict) {
	t.Helper()
	objectText, patchText := mustJSON(object), mustJSON(patch)
	want, wantLeft, panicked, wantErr := library(t, objectText, patchText)
	got, err := Apply(t.Context(), mustParse(t, objectText), mustParse(t, patchText), &thing{})
	if panicked == nil && wantErr == nil && err == nil {
		if !reflect.DeepEqual(got.ToAny(), want) {
			t.Fatalf("%s\nwith %s\nis   %v\nwant %s", objectText, patchText, got, mustJSON(want))
		}
		left, err := Left(mustParse(t, objectText), mustParse(t, patchText), &thing{})
		unique := !repeatsKeys(patch)
		of.shrank = unique && fmt.Sprint(wantLeft) != fmt.Sprint(patch)
		if err != nil || unique && fmt.Sprint(left.ToAny()) != fmt.Sprint(wantLeft) {
			t.Fatalf("%s\nwith %s\nleaves %v (%v)\nwant   %s", objectText, patchText, left, err, mustJSON(wantLeft))
		}
	}
	if of.panics = panicked != nil; wantErr != nil {
		of.library = wantErr.Error()
	}
	if err != nil {
		of.deed = err.Error()
	}
	return of
}

// repeatsKeys reports whether two items of one list have the same text or number, which are the merge keys.
func repeatsKeys(patch any) bool {
	switch patch := patch.(type) {
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(patch)), repeatsKeys)
	case []any:
		seen := map[string]bool{}
		for _, item := range patch {
			object, _ := item.(map[string]any)
			for _, key := range []string{"text", "number"} {
				id := fmt.Sprint(key, object[key])
				if seen[id] || repeatsKeys(item) {
					return true
				}
				seen[id] = object[key] != nil
			}
		}
	}
	return false
}

// fault returns an error text without the values in it.
func fault(err string) string {
	words, _, _ := strings.Cut(err, "[")
	return words
}

// narrowed returns the part of a patch along a path of names. In it, each object has at most one member that can be at fault. Lists keep
// all items. A list keeps its order directive, because the library merges such a list first.
func narrowed(patch any, path []string) any {
	switch patch := patch.(type) {
	case []any:
		out := make([]any, len(patch))
		for i, item := range patch {
			out[i] = narrowed(item, path)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for name, member := range patch {
			of, nests := nesting(name, member)
			_, ordered := patch[orderOf+"/"+name]
			switch {
			case !nests:
				out[name] = member
			case len(path) > 0 && of == path[0]:
				out[name] = narrowed(member, path[1:])
			case ordered:
				out[name] = narrowed(member, nil)
			}
		}
		return out
	}
	return patch
}

// paths returns the paths of names to the objects and lists of a patch, or one empty path.
func paths(patch any) [][]string {
	var out [][]string
	add := func(path []string) {
		if !slices.ContainsFunc(out, func(had []string) bool { return slices.Equal(had, path) }) {
			out = append(out, path)
		}
	}
	switch patch := patch.(type) {
	case []any:
		for _, item := range patch {
			for _, path := range paths(item) {
				add(path)
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(patch)) {
			if of, nests := nesting(name, patch[name]); nests {
				for _, path := range paths(patch[name]) {
					add(append([]string{of}, path...))
				}
			}
		}
	}
	if len(out) == 0 {
		return [][]string{nil}
	}
	return out
}

// nesting returns the name of the member that an object or a list of a patch is merged into. It returns false for scalars and directives.
func nesting(name string, member any) (string, bool) {
	if name == retainKeys || strings.HasPrefix(name, orderOf) {
		return "", false
	}
	switch member.(type) {
	case map[string]any, []any:
		return strings.TrimPrefix(name, deletionOf+"/"), true
	}
	return "", false
}

// TestRepeated patches lists with repeated items and repeated keys.
func TestRepeated(t *testing.T) {
	for _, c := range []struct{ object, patch string }{
		{`{"texts":["a","b","a","c"]}`, `{"texts":["c","c","a"]}`},
		{`{"texts":["a","b","a","c"]}`, `{"$deleteFromPrimitiveList/texts":["a","a","x"]}`},
		{`{"numbers":[1,2]}`, `{"numbers":[3,1,3,2]}`},
		{`{"things":[{"text":"a","number":1},{"text":"a","number":2}]}`, `{"things":[{"text":"a","number":3},{"text":"a","labels":{"x":"y"}}]}`},
		{`{"things":[{"text":"a","number":1},{"text":"b"},{"text":"a"},{"text":"c"}]}`, `{"things":[{"text":"a","$patch":"delete"},{"text":"a","$patch":"delete"}]}`},
		{`{"things":[{"text":"a"}]}`, `{"$setElementOrder/things":["y",{"text":"a"}]}`},
		{`{"things":[{"text":"a"},{"text":"b"}]}`, `{"$setElementOrder/things":[{"text":"a"},"y",{"text":"b"}]}`},
		{`{"things":[{"text":"a"}]}`, `{"$setElementOrder/things":[{"text":"a"},"y"]}`},
		{`{"things":[{"text":null,"number":1},{"text":null,"number":2}]}`, `{"things":[{"text":null,"number":3},{"text":null,"number":4}]}`},
		{
			`{"things":[{"text":"a"},{"text":"b"},{"text":"c"},{"text":"d"}]}`,
			`{"$setElementOrder/things":[{"text":"x"},{"text":"b"}],"things":[{"text":"d","$patch":"delete"},{"text":"c","$patch":"delete"},{"text":"x"}]}`,
		},
	} {
		want, _, _, wantErr := library(t, []byte(c.object), []byte(c.patch))
		got, err := Apply(t.Context(), mustParse(t, []byte(c.object)), mustParse(t, []byte(c.patch)), &thing{})
		if fmt.Sprint(err) != fmt.Sprint(wantErr) || err == nil && !reflect.DeepEqual(got.ToAny(), want) {
			t.Errorf("%s with %s is %v, %v; want %v, %v", c.object, c.patch, got, err, want, wantErr)
		}
	}
}

// TestNoPanic applies patches on which the library panics.
func TestNoPanic(t *testing.T) {
	for _, c := range []struct{ object, patch, want string }{
		{`{"texts":[null]}`, `{"texts":["a"]}`, "<error>"},
		{`{"things":[{"text":{}}]}`, `{"things":[{"text":{}}]}`, `{"things":[{"text":{}},{"text":{}}]}`},
		{`{}`, `{"$retainKeys":[{}],"text":null}`, `{}`},
	} {
		if _, _, panicked, _ := library(t, []byte(c.object), []byte(c.patch)); panicked == nil && c.object != "{}" {
			t.Errorf("%s with %s: the library does not panic", c.object, c.patch)
		}
		got, err := Apply(t.Context(), mustParse(t, []byte(c.object)), mustParse(t, []byte(c.patch)), &thing{})
		if (err != nil) != (c.want == "<error>") || err == nil && got.String() != c.want {
			t.Errorf("%s with %s is %v, %v; want %s", c.object, c.patch, got, err, c.want)
		}
	}
}

// TestCost checks that lists with eight times as many items allocate about eight times as much.
func TestCost(t *testing.T) {
	for name, item := range map[string]string{"things": `{"text":"t%d","number":%d}`, "texts": `"t%d%d"`} {
		bytes := func(n int) uint64 {
			var old, patch, order []string
			for i := range n {
				old = append(old, fmt.Sprintf(item, i, i))
				patch = append(patch, fmt.Sprintf(item, i+n/2, i))
			}
			order = append(order, patch...)
			object := mustParse(t, fmt.Appendf(nil, `{%q:[%s]}`, name, strings.Join(old, ",")))
			changes := mustParse(t, fmt.Appendf(nil, `{%q:[%s],"$setElementOrder/%s":[%s]}`, name, strings.Join(patch, ","), name, strings.Join(order, ",")))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if _, err := Apply(t.Context(), object, changes, &thing{}); err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		if few, many := bytes(1000), bytes(8000); many > 12*few {
			t.Errorf("%s: 1000 items allocate %d bytes, and 8000 %d", name, few, many)
		}
	}
}

// BenchmarkManyItems merges a list into one of the same length.
func BenchmarkManyItems(b *testing.B) {
	for _, n := range []int{10, 1000, 10_000} {
		var items, changed []any
		for i := range n {
			items = append(items, map[string]any{"text": fmt.Sprint(i)})
			changed = append(changed, map[string]any{"text": fmt.Sprint(i + n/2)})
		}
		object, patch := mustJSON(map[string]any{"things": items}), mustJSON(map[string]any{"things": changed})
		b.Run(fmt.Sprintf("deed/%d", n), func(b *testing.B) {
			o, _ := value.Parse(object)
			p, _ := value.Parse(patch)
			for b.Loop() {
				if _, err := Apply(b.Context(), o, p, &thing{}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("library/%d", n), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				var o, p map[string]any
				if json.Unmarshal(object, &o) != nil || json.Unmarshal(patch, &p) != nil {
					b.Fatal("no JSON")
				}
				b.StartTimer()
				if _, err := strategicpatch.StrategicMergeMapPatch(o, p, &thing{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func mustJSON(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

func mustParse(t *testing.T, text []byte) value.Value {
	t.Helper()
	v, err := value.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestEnd applies a patch for a request that has ended.
func TestEnd(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	end()
	if _, err := Apply(ctx, value.Object(), mustParse(t, []byte(`{"a":{"b":1}}`)), &thing{}); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v, want that of the context", err)
	}
}
