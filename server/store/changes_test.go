package store_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/memory"
	"github.com/deed-project/deed/server/store/storetest"
)

// TestChanges brings a cache up to date with stores that know what happened, that have compacted it, and that never know it.
func TestChanges(t *testing.T) {
	for _, how := range []string{"history", "compacted", "no history"} {
		t.Run(how, func(t *testing.T) {
			objects := memory.New()
			defer objects.Close()
			var s store.Store = objects
			if how == "no history" {
				s = storetest.WithoutHistory{Store: objects}
			}
			write := func(key string, expect store.Revision) store.Revision {
				t.Helper()
				revision, err := objects.Put(t.Context(), key, []byte(key), expect)
				if err != nil {
					t.Fatal(err)
				}
				return revision
			}
			var at store.Revision
			cache := map[string]store.Revision{}
			catchUp := func(events int) {
				t.Helper()
				batch, err := store.Changes(t.Context(), s, "/a/", at, maps.All(cache))
				if err != nil {
					t.Fatal(err)
				}
				if len(batch.Events) != events {
					t.Errorf("%d events, want %d: %v", len(batch.Events), events, batch.Events)
				}
				for _, e := range batch.Events {
					if e.Deleted {
						delete(cache, e.Key)
					} else {
						cache[e.Key] = e.Revision
					}
				}
				at = batch.Revision
			}
			kept, changed := write("/a/kept", 0), write("/a/changed", 0)
			gone := write("/a/gone", 0)
			write("/b/other", 0)
			catchUp(3)
			changed = write("/a/changed", changed)
			if _, err := objects.Delete(t.Context(), "/a/gone", gone); err != nil {
				t.Fatal(err)
			}
			added := write("/a/new", 0)
			if how == "compacted" {
				if err := objects.Compact(t.Context(), added); err != nil {
					t.Fatal(err)
				}
			}
			catchUp(3)
			if want := map[string]store.Revision{"/a/kept": kept, "/a/changed": changed, "/a/new": added}; !maps.Equal(cache, want) {
				t.Errorf("the cache has %v, want %v", slices.Sorted(maps.Keys(cache)), want)
			}
			catchUp(0)
		})
	}
}
