package watch

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestPieces derives a value from each chunk. A chunk that several watches send is used once, and each value must belong to exactly its
// chunk: in other representations, with other selectors, as initial or later events, and for bookmarks.
func TestPieces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTheater(t)
		for i := range 3 {
			s.write("a", fmt.Sprint("first", i))
		}
		made := 0
		hear := func(w *seat) {
			_, err := w.Send(func(told Chunk) bool {
				shout := w.Encoded(told, func(text []byte) []byte {
					made++
					return []byte(strings.ToUpper(string(text)))
				})
				if string(shout) != strings.ToUpper(string(told.Text)) {
					t.Errorf("of %q was made %q", told.Text, shout)
				}
				return true
			})
			if err != nil {
				t.Error(err)
			}
		}
		var seats []*seat
		for i := range 30 {
			query := []string{"", "watch=1&allowWatchBookmarks=true", "fieldSelector=metadata.name!%3Do3"}[i%3]
			seats = append(seats, s.watch("", query, []string{"json", "partial"}[i%2]))
		}
		for _, w := range seats {
			hear(w)
		}
		if want := 2*2 + 10; made != want { // bookmarks come with initial events and belong to one watch
			t.Errorf("of what was there %d pieces were made, not %d", made, want)
		}
		made = 0
		for i := range 10 {
			s.write("a", fmt.Sprint("o", i))
			time.Sleep(time.Second)
			for _, w := range seats {
				hear(w)
			}
		}
		if want := 10*2 + 9*2; made != want {
			t.Errorf("of 10 events %d pieces were made, not %d", made, want)
		}
		time.Sleep(2 * bookmarkEvery)
		for _, w := range seats {
			hear(w)
		}
		key := s.maps.Key("b", "only")
		first := s.write("b", "only")
		followers := []*seat{s.watch("b", "", "json"), s.watch("b", "", "json")}
		for _, w := range followers {
			hear(w)
		}
		text := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"only","namespace":"b"},"data":{}}`
		if _, err := s.Store.Put(t.Context(), key, []byte(text), first); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		for _, w := range append(followers, s.watch("b", "", "json")) { // MODIFIED and ADDED, at the same revision
			hear(w)
		}
		remembered := s.hub.pieces.of.Len()
		hear(s.watch("", "", "alone"))
		if n := s.hub.pieces.of.Len(); n != remembered {
			t.Errorf("%d pieces of one watch are remembered", n-remembered)
		}
	})
}
