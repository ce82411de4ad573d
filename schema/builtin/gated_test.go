package builtin

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// TestGatedInSharedParts drops the gated fields of pods that share volumes and containers with the live one. What they share is not searched, and
// must make no difference.
func TestGatedInSharedParts(t *testing.T) {
	pod, _ := Lookup(schema.GVK{Version: "v1", Kind: "Pod"})
	w := pod.gated()
	r := rand.New(rand.NewPCG(1, 2))
	volumes := []string{
		`{"name":"a","secret":{"secretName":"s","defaultUser":1}}`, `{"name":"b","secret":{"secretName":"s","items":[{"key":"k","path":"p","user":1}]}}`,
		`{"name":"c","secret":{"secretName":"s"}}`, `{"name":"d","configMap":{"name":"m","defaultUser":1}}`,
		`{"name":"e","secret":{"secretName":"s"},"configMap":{"name":"m","defaultUser":1}}`, `{"name":"f","emptyDir":{}}`,
	}
	containers := []string{
		`{"name":"a","lifecycle":{"stopSignal":"SIGHUP"}}`, `{"name":"b","lifecycle":{"preStop":{"sleep":{"seconds":1}},"stopSignal":"SIGHUP"}}`, `{"name":"c"}`,
	}
	some := func(texts []string, of value.Value) value.Value { // new items, items of a list, and items that share members with one
		var out []value.Value
		for range r.IntN(4) {
			item := mustParse(t, texts[r.IntN(len(texts))])
			if n := of.Len(); n > 0 && r.IntN(2) == 0 {
				if item = of.Item(r.IntN(n)); r.IntN(3) == 0 {
					item = item.With("secret", value.Value{})
				}
			}
			out = append(out, item)
		}
		return value.List(out...)
	}
	dropped, kept := 0, 0
	for range 5000 {
		var old, spec value.Value
		if r.IntN(5) > 0 {
			old = value.Object().With("volumes", some(volumes, value.Value{})).With("containers", some(containers, value.Value{}))
		}
		if spec = old; old.IsAbsent() {
			spec = value.Object()
		}
		if r.IntN(3) > 0 {
			spec = spec.With("volumes", some(volumes, old.Get("volumes")))
		}
		if r.IntN(3) > 0 {
			spec = spec.With("containers", some(containers, old.Get("containers")))
		}
		live, object := value.Value{}, value.Object().With("spec", spec)
		if !old.IsAbsent() {
			live = value.Object().With("spec", old)
		}
		used := w.find(live, value.Value{})
		unused := slices.DeleteFunc(w.find(object, value.Value{}), func(name string) bool { return slices.Contains(used, name) })
		got, want := pod.withoutGated(live, object), w.drop(object, unused)
		if !got.Equal(want) {
			t.Fatalf("of %v\nin place of %v\nis left %v\nwant %v", object, live, got, want)
		}
		if got.Equal(object) {
			kept++
		} else {
			dropped++
		}
	}
	if dropped < 500 || kept < 500 {
		t.Errorf("fields of %d pods are dropped, and of %d kept", dropped, kept)
	}
}
