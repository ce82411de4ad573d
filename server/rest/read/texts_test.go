package read

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/memory"
	"github.com/deed-project/deed/server/wire"
	"github.com/deed-project/deed/value"
)

// gone is an http.ResponseWriter whose client has left. It keeps the memory of the last write.
type gone struct {
	header http.Header
	unsent *byte
}

func (g *gone) Header() http.Header { return g.header }
func (g *gone) WriteHeader(int)     {}

// Write returns an error.
func (g *gone) Write(text []byte) (int, error) {
	g.unsent = &text[0]
	return 0, errors.New("the client is gone")
}

// TestUnsentMemoryIsNotUsedAgain loses the client of a list during a write. The text may still be in use, so no other list may write to its
// memory.
func TestUnsentMemoryIsNotUsedAgain(t *testing.T) {
	client := &gone{header: http.Header{}}
	large := func(accept string) *wire.Stream {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept-Encoding", accept)
		body := wire.NewStream(client, r, wire.Representation{})
		body.Expect(1 << 20)
		return body
	}
	lost := newTexts(nil, large(""), whole{})
	lost.append("secret")
	if lost.send() == nil {
		t.Fatal("the error of writing is lost")
	}
	lost.release()
	unsent := client.unsent
	zipped := large("gzip")
	if zipped.Write([]byte("secret")) != nil || zipped.Close() == nil {
		t.Fatal("the error of writing is lost, or comes before there is much")
	}
	unsentZipped := client.unsent
	held := wire.NewStream(client, httptest.NewRequest(http.MethodGet, "/", nil), wire.Representation{})
	if held.Write([]byte("secret")) != nil || held.Write(make([]byte, 128<<10)) == nil {
		t.Fatal("the error of writing is lost, or comes before there is much")
	}
	unsentHeld := client.unsent
	for range 10 {
		next := newTexts(nil, nil, whole{})
		if next.append("next"); &next.text[0] == unsent {
			t.Error("another list is written to the memory of text that may still be on its way")
		}
		if another := wire.NewStream(client, httptest.NewRequest(http.MethodGet, "/", nil), wire.Representation{}); another.Write([]byte("next")) != nil ||
			another.Close() == nil || client.unsent == unsentHeld {
			t.Error("another small list is held in the memory of text that may still be on its way")
		}
		another := large("gzip")
		if another.Write([]byte("next")) != nil || another.Close() == nil || client.unsent == unsentZipped {
			t.Error("another list is compressed to the memory of text that may still be on its way")
		}
	}
}

// loads is a catalog.Form that counts loads.
type loads struct {
	catalog.Form
	n int
}

// Load counts the call.
func (l *loads) Load(stored value.Value) (value.Value, error) {
	l.n++
	return l.Form.Load(stored)
}

// TestReadOnce reads a text twice. The second time its fact is known.
func TestReadOnce(t *testing.T) {
	maps := configMaps(t)
	counted := &loads{Form: maps.Form}
	maps.Form = counted
	r := (&Reader{Store: memory.New(), Now: time.Now}).View(maps)
	record := store.Record{
		Key: maps.Key("a", "x"), Text: []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","uid":"u"}}`), Revision: 7,
	}
	first, err := r.ReadOnce(record)
	if err != nil || counted.n != 1 {
		t.Fatalf("read first: loaded %d times, %v", counted.n, err)
	}
	again, err := r.ReadOnce(record)
	if err != nil || counted.n != 1 || !again.Content.Equal(first.Content) {
		t.Errorf("read again: %v, loaded %d times, %v", again.Content, counted.n, err)
	}
}
