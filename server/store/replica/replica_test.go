package replica_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/memory"
	"github.com/deed-project/deed/server/store/replica"
	"github.com/deed-project/deed/server/store/storetest"
	"github.com/deed-project/deed/value"
)

// TestCatchUp follows objects that are created, changed and deleted, by the history of a store and without one.
func TestCatchUp(t *testing.T) {
	for name, forgets := range map[string]bool{"history": false, "no history": true} {
		t.Run(name, func(t *testing.T) {
			objects := memory.New()
			defer objects.Close()
			var s store.Store = objects
			if forgets {
				s = storetest.WithoutHistory{Store: objects}
			}
			var added, removed []string
			r := replica.Replica[string]{
				Prefix: "/registry/things/",
				Derive: func(o value.Value) (string, error) { return o.Get("color").Str(), nil },
				Added:  func(color string) { added = append(added, color) }, Removed: func(color string) { removed = append(removed, color) },
			}
			revisions := map[string]store.Revision{}
			put := func(name, text string) {
				t.Helper()
				revision, err := objects.Put(t.Context(), "/registry/"+name, []byte(text), revisions[name])
				if err != nil {
					t.Fatal(err)
				}
				revisions[name] = revision
			}
			follow := func(want ...string) {
				t.Helper()
				if err := r.CatchUp(t.Context(), s); err != nil {
					t.Fatal(err)
				}
				if got := slices.Sorted(r.All()); !slices.Equal(got, want) || r.Len() != len(want) {
					t.Errorf("the colors are %v, want %v", got, want)
				}
			}
			put("things/a", `{"color":"red"}`)
			put("things/b", `{"color":"blue"}`)
			put("others/c", `{"color":"green"}`)
			follow("blue", "red")
			put("things/a", `{"color":"pink"}`)
			if _, err := objects.Delete(t.Context(), "/registry/things/b", 0); err != nil {
				t.Fatal(err)
			}
			put("things/last", `{"color":"white"}`)
			follow("pink", "white")
			follow("pink", "white")
			slices.Sort(added)
			slices.Sort(removed)
			if got := strings.Join(added, " ") + "; " + strings.Join(removed, " "); got != "blue pink red white; blue red" {
				t.Errorf("added and removed: %s", got)
			}
			if got := r.Get("/registry/things/a"); got != "pink" {
				t.Errorf("a is %q", got)
			}
			put("things/a", `{`)
			if err := r.CatchUp(t.Context(), s); err == nil || !strings.Contains(err.Error(), "/registry/things/a") {
				t.Errorf("an object that is no JSON: %v", err)
			}
		})
	}
}
