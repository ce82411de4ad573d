package managedfields

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/deed-project/deed/fieldpath"
)

// TestReadMap reads maps that are modified between readings: what is remembered must never answer for another map.
func TestReadMap(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 0))
	content := map[string]any{}
	for i := range 20000 {
		if i%50 == 0 {
			content = map[string]any{}
		}
		modify(r, content)
		got, err := readMap(content)
		want, canonical, wantErr := fieldpath.FromAny(content)
		if (err == nil) != (wantErr == nil) || err == nil && (!got.set.Equal(want) || got.canonical != canonical) {
			text, _ := json.Marshal(content)
			t.Fatalf("%s: got %s, %v (error %v), want %s, %v (error %v)",
				text, got.set.AppendJSON(nil), got.canonical, err, want.AppendJSON(nil), canonical, wantErr)
		}
	}
}

// modify changes one thing in content or below.
func modify(r *rand.Rand, content map[string]any) {
	name := [...]string{"f:a", "f:b", "f:c", `k:{"n":"x"}`, `k:{"n":"y"}`, `v:1`, "i:2", "."}[r.IntN(8)]
	switch member, there := content[name].(map[string]any); {
	case there && member != nil && r.IntN(3) > 0:
		modify(r, member)
	case there && r.IntN(2) == 0:
		delete(content, name)
	case r.IntN(100) == 0:
		content[name] = [...]any{nil, "text", 1.5, map[string]any(nil)}[r.IntN(4)]
	default:
		content[name] = map[string]any{}
	}
}

// TestReadMapAgain demands that a map that was read is known when it comes again.
func TestReadMapAgain(t *testing.T) {
	content := map[string]any{"f:metadata": map[string]any{"f:labels": map[string]any{".": map[string]any{}, "f:a": map[string]any{}}}}
	if _, err := readMap(content); err != nil { // what comes only once is not worth remembering
		t.Fatal(err)
	}
	first, err := readMap(content)
	if err != nil {
		t.Fatal(err)
	}
	again, err := readMap(maps.Clone(content))
	if err != nil {
		t.Fatal(err)
	}
	if !again.set.Same(first.set) {
		t.Error("the set was made again")
	}
	if allocs := testing.AllocsPerRun(100, func() { _, _ = readMap(content) }); allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
}

// TestReadLargeMap reads a map that is too large to be remembered.
func TestReadLargeMap(t *testing.T) {
	large := map[string]any{}
	for i := range 2 * maxMapCached {
		large["f:"+strconv.Itoa(i)] = map[string]any{}
	}
	for range 3 {
		if p, err := readMap(large); err != nil || p.set.Len() != len(large) || p.outline != nil {
			t.Errorf("%d fields, outline of %d nodes, error %v", p.set.Len(), len(p.outline), err)
		}
	}
}
