package strategic

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/strategicpatch"
	kjson "sigs.k8s.io/json"

	"github.com/deed-project/deed/value"
)

// thing has what objects have whose lists are merged.
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

// maker makes objects and patches.
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
		if _, both := out[name]; !both { // which the library does first is left to chance
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

// order returns an order of the items of a list that a patch has, mostly a good one.
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

// library applies a patch as kube-apiserver does. It panics where that does.
func library(t *testing.T, object, patch []byte) (out, panicked any, err error) {
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
	return out, nil, err
}

// clip takes away the room behind the items of lists: where there is some, the library changes lists as it looks at them.
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

// TestLikeTheLibrary compares with the library. Where that finds several things wrong, which one it says first is left to chance.
func TestLikeTheLibrary(t *testing.T) {
	patches := 60_000
	if testing.Short() {
		patches = 6_000
	}
	m := maker{rand.New(rand.NewPCG(1, 2))}
	good, refused := 0, map[string]int{}
	for range patches {
		object, patch := mustJSON(m.object(2, false)), mustJSON(m.object(2, true))
		want, panicked, wantErr := library(t, object, patch)
		if panicked != nil {
			continue
		}
		got, err := Apply(mustParse(t, object), mustParse(t, patch), &thing{})
		if wantErr != nil || err != nil {
			if !sameError(t, object, patch, err, wantErr) {
				t.Fatalf("%s\nwith %s\nsays %v\nwant %v", object, patch, err, wantErr)
			}
			refused[strings.Join(strings.Fields(err.Error())[:3], " ")]++
			continue
		}
		good++
		if found := got.ToAny(); !reflect.DeepEqual(found, want) {
			t.Fatalf("%s\nwith %s\nis   %v\nwant %s", object, patch, got, mustJSON(want))
		}
	}
	if good < patches/2 || len(refused) < 8 {
		t.Errorf("of %d patches %d are applied, and others refused for %v", patches, good, refused)
	}
}

// TestRepeated has items more than once, and says so of keys.
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
		want, _, wantErr := library(t, []byte(c.object), []byte(c.patch))
		got, err := Apply(mustParse(t, []byte(c.object)), mustParse(t, []byte(c.patch)), &thing{})
		if fmt.Sprint(err) != fmt.Sprint(wantErr) || err == nil && !reflect.DeepEqual(got.ToAny(), want) {
			t.Errorf("%s with %s is %v, %v; want %v, %v", c.object, c.patch, got, err, want, wantErr)
		}
	}
}

// TestNoPanic has what the library panics of.
func TestNoPanic(t *testing.T) {
	for _, c := range []struct{ object, patch, want string }{
		{`{"texts":[null]}`, `{"texts":["a"]}`, "<error>"},
		{`{"things":[{"text":{}}]}`, `{"things":[{"text":{}}]}`, `{"things":[{"text":{}},{"text":{}}]}`},
		{`{}`, `{"$retainKeys":[{}],"text":null}`, `{}`},
	} {
		if _, panicked, _ := library(t, []byte(c.object), []byte(c.patch)); panicked == nil && c.object != "{}" {
			t.Errorf("%s with %s: the library does not panic", c.object, c.patch)
		}
		got, err := Apply(mustParse(t, []byte(c.object)), mustParse(t, []byte(c.patch)), &thing{})
		if (err != nil) != (c.want == "<error>") || err == nil && got.String() != c.want {
			t.Errorf("%s with %s is %v, %v; want %s", c.object, c.patch, got, err, c.want)
		}
	}
}

// sameError reports whether the library says the same in one of several attempts.
func sameError(t *testing.T, object, patch []byte, err, want error) bool {
	for range 50 {
		if fmt.Sprint(err) == fmt.Sprint(want) {
			return true
		}
		_, _, want = library(t, object, patch)
	}
	return false
}

// TestCost merges lists that have eight times as many items, which allocates about eight times as much.
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
			if _, err := Apply(object, changes, &thing{}); err != nil {
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

// BenchmarkManyItems merges a list into one of as many items.
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
				if _, err := Apply(o, p, &thing{}); err != nil {
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
