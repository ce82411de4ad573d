package rest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"

	"github.com/deed-project/deed/internal/seeds"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/wire"
)

// TestCacheBudget remembers more than there is room for, and something for which there is none: any others are forgotten.
func TestCacheBudget(t *testing.T) {
	const budget = 1 << 20
	var c cache[int, []byte]
	made := make([]byte, budget/100-entryCost)
	for i := range 1000 {
		c.put(i, made, len(made), budget)
		c.put(i, made, len(made), budget)
		if _, ok := c.get(i); !ok {
			t.Fatalf("%d is forgotten at once", i)
		}
	}
	c.put(-1, nil, budget, budget)
	size := 0
	for _, e := range c.of {
		size += e.cost
	}
	if size != c.size || len(c.of) != 100 {
		t.Errorf("%d entries, %d bytes, reckoned %d", len(c.of), size, c.size)
	}
	c.dropIf(func(key int) bool { return key == 999 })
	if _, ok := c.get(999); ok || len(c.of) != 99 || c.size != size-budget/100 {
		t.Errorf("after one was dropped: %v, %d entries of %d bytes", ok, len(c.of), c.size)
	}
}

// TestCacheMemory fills what is remembered of watches and of lists, with large and with small texts, and measures how much memory that
// takes.
func TestCacheMemory(t *testing.T) {
	random := seeds.Rand(t)
	for _, size := range []int{20, 1000, 100_000} {
		fills(t, "pieces", size, piecesBudget, func(n int) any {
			var c cache[pieceKey, []byte]
			for i := range n {
				c.put(pieceKey{revisions: fmt.Sprintf("%8d", i)}, make([]byte, size), 8+size, piecesBudget)
			}
			return &c
		})
		fills(t, "blocks", size, blocksBudget, func(n int) any {
			var c cache[blockKey, wire.Part]
			for i := range n {
				text := make([]byte, size)
				for i := range text {
					text[i] = byte(random.Uint32()) // so that it does not become shorter
				}
				part := wire.Deflate(text)
				c.put(blockKey{says: fmt.Sprintf("%128d", i)}, part, 128+part.Len(), blocksBudget)
			}
			return &c
		})
	}
}

// fills fails if what fill fills, with twice as many texts as there is room for, takes another memory than the budget.
func fills(t *testing.T, what string, size, budget int, fill func(n int) any) {
	heap := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // compressors that are used by nobody go with the second
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	before := heap()
	filled := fill(2 * budget / (size + entryCost))
	held := heap() - before
	t.Logf("%s of %d bytes take %d kB", what, size, held>>10)
	if held < budget/2 || held > budget*5/4 {
		t.Errorf("%s of %d bytes take %d bytes, of %d", what, size, held, budget)
	}
	runtime.KeepAlive(filled)
}

// TestBlocks lists objects again and again. Of a list that is compressed those blocks are made anew that a write was about.
func TestBlocks(t *testing.T) {
	s := newTheater(t)
	write := func(i int, before store.Revision) store.Revision {
		text := fmt.Sprintf(`{"apiVersion":"v1","data":{"x":"%01000d"},"kind":"ConfigMap","metadata":{"name":"o%03d","namespace":"a","uid":"u"}}`, before, i)
		revision, err := s.Store.Put(t.Context(), s.maps.Key("a", fmt.Sprintf("o%03d", i)), []byte(text), before)
		if err != nil {
			t.Fatal(err)
		}
		return revision
	}
	var revisions []store.Revision
	for i := range 400 {
		revisions = append(revisions, write(i, 0))
	}
	list := func() int {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept-Encoding", "gzip")
		body := wire.NewStream(httptest.NewRecorder(), r, wire.Representation{})
		err := (&Request{Backend: s.Backend, HTTP: r, Version: s.maps}).ListTexts(body)
		if err != nil {
			t.Fatal(err)
		}
		return len(s.blocks.of)
	}
	list() // reads objects that this process did not write
	first := list()
	if first < 400/blockObjects/2 || first > 400/blockObjects*2 {
		t.Errorf("400 objects are %d blocks", first)
	}
	if again := list(); again != first {
		t.Errorf("%d blocks are made again", again-first)
	}
	write(200, revisions[200])
	list()
	if more := list() - first; more < 1 || more > 3 {
		t.Errorf("after a write %d blocks are made anew", more)
	}
	if s.Forget(s.maps.Resource); len(s.blocks.of) > 0 {
		t.Errorf("%d blocks of a resource are remembered that is served no more", len(s.blocks.of))
	}
}
