package read

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/memory"
	"github.com/deed-project/deed/server/wire"
)

// TestBlocks lists objects repeatedly. After a write, a compressed list must rebuild only the changed blocks.
func TestBlocks(t *testing.T) {
	s, maps := &Reader{Store: memory.New(), Now: time.Now}, configMaps(t)
	write := func(i int, before store.Revision) store.Revision {
		text := fmt.Sprintf(`{"apiVersion":"v1","data":{"x":"%01000d"},"kind":"ConfigMap","metadata":{"name":"o%03d","namespace":"a","uid":"u"}}`, before, i)
		revision, err := s.Store.Put(t.Context(), maps.Key("a", fmt.Sprintf("o%03d", i)), []byte(text), before)
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
		err := s.ListTexts(rest.New(r, nil, api.Target{}, maps), body)
		if err != nil {
			t.Fatal(err)
		}
		return s.blocks.Len()
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
	if s.Forget(maps.Resource); s.blocks.Len() > 0 {
		t.Errorf("%d blocks of a resource are remembered that is served no more", s.blocks.Len())
	}
}
