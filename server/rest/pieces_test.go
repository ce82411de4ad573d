package rest

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestPieces makes something of what watches are told. What several are told is made once, and it is always made of just what was told: in
// other representations, of other selections, of the same objects at the beginning of a watch or later, and of bookmarks.
func TestPieces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTheater(t)
		for i := range 3 {
			s.write("a", fmt.Sprint("first", i))
		}
		made := 0
		hear := func(w *seat) {
			_, err := w.Tell(func(told Told) bool {
				shout := told.Made(func(text []byte) []byte {
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
			query := []string{"", "allowWatchBookmarks=true", "fieldSelector=metadata.name!%3Do3"}[i%3]
			seats = append(seats, s.watch("", query, []string{"json", "partial"}[i%2]))
		}
		for _, w := range seats {
			hear(w)
		}
		if want := 2*2 + 10; made != want { // bookmarks come with what was there, and are each watch's own
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
		for _, w := range append(followers, s.watch("b", "", "json")) { // MODIFIED, and ADDED, at the same revision
			hear(w)
		}
		remembered := len(s.pieces.of)
		hear(s.watch("", "", "alone"))
		if n := len(s.pieces.of); n != remembered {
			t.Errorf("%d pieces of one watch are remembered", n-remembered)
		}
	})
}

// TestPiecesBudget remembers more than there is room for: what came first is forgotten.
func TestPiecesBudget(t *testing.T) {
	var p pieces
	made := make([]byte, piecesBudget/100-pieceCost-8)
	for i := range 1000 {
		p.put(pieceKey{revisions: fmt.Sprintf("%8d", i)}, made)
		p.put(pieceKey{revisions: fmt.Sprintf("%8d", i)}, made)
	}
	size := 0
	for key, made := range p.of {
		size += key.cost(made)
	}
	if size != p.size || size > piecesBudget || len(p.of) != 100 || len(p.order) != 100 {
		t.Errorf("%d pieces in an order of %d, %d bytes, reckoned %d", len(p.of), len(p.order), size, p.size)
	}
	if p.get(pieceKey{revisions: fmt.Sprintf("%8d", 999)}) == nil || p.get(pieceKey{revisions: fmt.Sprintf("%8d", 899)}) != nil {
		t.Error("others were forgotten than those that came first")
	}
}

// TestPiecesMemory fills what is remembered with large and with small pieces, and measures how much memory that takes.
func TestPiecesMemory(t *testing.T) {
	for _, size := range []int{20, 1000, 100_000} {
		heap := func() int {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			return int(m.HeapAlloc)
		}
		before := heap()
		var p pieces
		for i := range 2 * piecesBudget / (size + pieceCost) {
			p.put(pieceKey{revisions: fmt.Sprintf("%8d", i)}, make([]byte, size))
		}
		held := heap() - before
		t.Logf("pieces of %d bytes take %d kB", size, held>>10)
		if held < piecesBudget/2 || held > piecesBudget*5/4 {
			t.Errorf("pieces of %d bytes take %d bytes, of %d", size, held, piecesBudget)
		}
		runtime.KeepAlive(&p)
	}
}
