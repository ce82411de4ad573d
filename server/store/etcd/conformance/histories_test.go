package conformance_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/value"
)

// selecting is a client that follows the widgets with the label l=1, breaks off at random, and goes on where it was through any server.
type selecting struct {
	urls   []string
	at     string
	states map[string]string // by name: the object as it was told last
	random *rand.Rand
}

// follow watches until it is told of the widget that is called last.
func (f *selecting) follow(ctx context.Context) error {
	for f.states["last"] == "" {
		if err := f.watch(ctx); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return fmt.Errorf("a watcher is still at %s", f.at)
		}
	}
	return nil
}

func (f *selecting) watch(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	url := f.urls[f.random.IntN(len(f.urls))] + things + "?watch=true&labelSelector=l%3D1&resourceVersion=" + f.at
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil
	}
	defer w.Body.Close()
	lines := bufio.NewScanner(w.Body)
	for left := 1 + f.random.IntN(20); left > 0 && f.states["last"] == "" && lines.Scan(); left-- {
		if err := f.told(lines.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// told takes over an event. It must fit to what was told before.
func (f *selecting) told(line []byte) error {
	var event struct {
		Type   string
		Object json.RawMessage
	}
	if err := json.Unmarshal(line, &event); err != nil {
		return err
	}
	object, err := value.Parse(event.Object)
	if err != nil {
		return err
	}
	name, version := object.Get("metadata", "name").Str(), object.Get("metadata", "resourceVersion").Str()
	if _, had := f.states[name]; event.Type == "ERROR" || had == (event.Type == "ADDED") ||
		len(version) < len(f.at) || len(version) == len(f.at) && version <= f.at {
		return fmt.Errorf("after %s a watcher is told %s", f.at, line)
	}
	f.at = version
	if event.Type == "DELETED" {
		delete(f.states, name)
	} else {
		f.states[name] = object.String()
	}
	return nil
}

// TestHistories lets writers change objects at random through three servers while 50 watchers follow them, break off at random, and go
// on through another server: in the end each knows what is stored.
func TestHistories(t *testing.T) {
	endpoints := someEtcd(t)
	servers := three(t, endpoints)
	must(t, servers[0], "POST "+definitions, widgets(t))
	var urls []string
	for _, s := range servers {
		until(t, s, "GET "+things, "", 200)
		port := httptest.NewServer(s)
		t.Cleanup(port.Close)
		urls = append(urls, port.URL)
	}
	begin := must(t, servers[0], "GET "+things, "").Get("metadata", "resourceVersion").Str()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	seed, watchers := seeds.First(t), make([]*selecting, 50)
	var writing, watching sync.WaitGroup
	for i := range watchers {
		f := &selecting{urls, begin, map[string]string{}, seeds.Stream(seed, i)}
		watchers[i] = f
		watching.Go(func() {
			if err := f.follow(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	for i := range 4 {
		r := seeds.Stream(seed, len(watchers)+i)
		writing.Go(func() {
			for range 400 {
				scribble(t, servers[r.IntN(3)], r)
			}
		})
	}
	writing.Wait()
	must(t, servers[0], "POST "+things, widget("last", `,"labels":{"l":"1"}`))
	watching.Wait()
	want := map[string]string{}
	for item := range must(t, servers[1], "GET "+things+"?labelSelector=l%3D1", "").Get("items").Items() {
		want[item.Get("metadata", "name").Str()] = item.String()
	}
	for i, f := range watchers {
		if !maps.Equal(f.states, want) {
			t.Errorf("watcher %d ended with\n%v\nwant\n%v", i, f.states, want)
		}
	}
}

// scribble makes a random write to one of few objects. Refusals are part of it.
func scribble(t *testing.T, s *server.Server, r *rand.Rand) {
	name := fmt.Sprintf("o%d", r.IntN(8))
	var w *httptest.ResponseRecorder
	switch r.IntN(4) {
	case 0:
		w = ask(s, "DELETE "+things+"/"+name, "")
	case 1:
		w = ask(s, "POST "+things, widget(name, fmt.Sprintf(`,"labels":{"l":"%d"}`, r.IntN(2))))
	default:
		w = ask(s, "PATCH "+things+"/"+name, fmt.Sprintf(`{"metadata":{"labels":{"l":"%d"}},"spec":{"replicas":%d}}`, r.IntN(2), r.IntN(10)))
	}
	if w.Code >= 500 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
