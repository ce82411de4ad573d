package managedfields_test

import (
	"math/rand/v2"
	"testing"

	"github.com/deed-project/deed/internal/thing"
	"github.com/deed-project/deed/managedfields"
)

// TestRecent writes each object twice by two field managers that differ in what they remember: their answers do not.
func TestRecent(t *testing.T) {
	recent := thing.Manager(func(c *managedfields.Config) { c.Recent = 1 })
	plain := thing.Manager(nil)
	remembered := 0
	thing.Histories(t, func(t *testing.T, r *rand.Rand, live managedfields.Object) {
		name := live.Content.At("metadata", "name").Str()
		namespace := live.Content.At("metadata", "namespace").Str()
		like := recent.Recent(namespace, name)
		if !like.Content.IsAbsent() {
			remembered++
		}
		stored, sent := fromMaps(t, live, like), fromMaps(t, thing.RandomObject(t, r), live)
		if r.IntN(2) == 0 {
			sent.Entries = nil
			want, wantErr := plain.Apply(live, sent, "a", true)
			got, err := recent.Apply(stored, sent, "a", true)
			sameAnswer(t, got, err, want, wantErr)
			return
		}
		want, wantErr := plain.Update(live, sent, "u")
		got, err := recent.Update(stored, sent, "u")
		sameAnswer(t, got, err, want, wantErr)
	})
	if remembered < 100 {
		t.Errorf("only %d objects were remembered", remembered)
	}
}

func fromMaps(t *testing.T, o, like managedfields.Object) managedfields.Object {
	t.Helper()
	content, err := o.ToAny()
	if err != nil {
		t.Fatal(err)
	}
	out, err := managedfields.ObjectFromAnyLike(content, like)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func sameAnswer(t *testing.T, got managedfields.Object, err error, want managedfields.Object, wantErr error) {
	t.Helper()
	if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
		t.Errorf("error %v, want %v", err, wantErr)
	}
	if string(got.AppendJSON(nil)) != string(want.AppendJSON(nil)) {
		t.Errorf("got  %s\nwant %s", got.AppendJSON(nil), want.AppendJSON(nil))
	}
}

// TestRecentRemembers names what is remembered and what is not.
func TestRecentRemembers(t *testing.T) {
	m := thing.Manager(func(c *managedfields.Config) { c.Recent = 1 })
	if _, err := m.Update(managedfields.Object{}, thing.New(t, `"spec":{"replicas":1}`), "u"); err != nil {
		t.Fatal(err)
	}
	if got := m.Recent("here", "one").Content.At("spec", "replicas").Int(); got != 1 {
		t.Errorf("the object that was written has %d replicas", got)
	}
	if got := m.Recent("here", "other"); !got.Content.IsAbsent() {
		t.Errorf("an object that was never written is %v", got.Content)
	}
	if got := thing.Manager(nil).Recent("here", "one"); !got.Content.IsAbsent() {
		t.Errorf("a field manager that remembers nothing has %v", got.Content)
	}
}
