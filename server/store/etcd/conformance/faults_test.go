package conformance_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/etcd"
	"github.com/deed-project/deed/server/store/storetest"
)

// follower is a client that follows widgets, and goes on where it was when a watch ends.
type follower struct {
	url, at string
	seen    map[string]int // how often each was told to be added, by name
	broken  int            // how many watches ended
}

// follow watches until it is told of the widget that is called last.
func (f *follower) follow(ctx context.Context, t *testing.T) {
	for f.seen["last"] == 0 {
		if ctx.Err() != nil {
			t.Errorf("a watcher is still at %s", f.at)
			return
		}
		if err := f.watch(ctx); err != nil {
			t.Error(err)
			return
		}
		f.broken++
	}
}

// watch watches once. The error is about what it is told; that the watch ends is none.
func (f *follower) watch(ctx context.Context) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url+things+"?watch=true&allowWatchBookmarks=true&resourceVersion="+f.at, nil)
	if err != nil {
		return err
	}
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil
	}
	defer w.Body.Close()
	lines := bufio.NewScanner(w.Body)
	for f.seen["last"] == 0 && lines.Scan() {
		var event struct {
			Type   string
			Object struct {
				Message  string
				Metadata struct{ Name, ResourceVersion string }
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			return nil // a line that was cut off
		}
		switch event.Type {
		case "ERROR":
			return nil // the server could not go on; the client can
		case "ADDED":
			f.seen[event.Object.Metadata.Name]++
		}
		f.at = event.Object.Metadata.ResourceVersion
	}
	return nil
}

// While etcd is away requests fail in the words of kube-apiserver and the server says that it is not ready. When etcd is back all
// goes on: what was acknowledged is there, and watches go on where they were.
func TestEtcdAway(t *testing.T) {
	c := startCluster(t, 1)
	s := serve(t, c.endpoints())
	must(t, s, "POST "+definitions, widgets(t))
	must(t, s, "POST "+things, widget("before", ""))
	port := httptest.NewServer(s)
	defer port.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	f := &follower{url: port.URL, at: must(t, s, "GET "+things, "").Get("metadata", "resourceVersion").Str(), seen: map[string]int{}}
	var watching sync.WaitGroup
	watching.Go(func() { f.follow(ctx, t) })

	c.end(0)
	for _, request := range []string{"GET " + things + "/before?timeout=500ms", "POST " + things + "?timeout=500ms"} {
		w := ask(s, request, widget("meanwhile", ""))
		t.Logf("%s: %d %s", request, w.Code, w.Body)
		if w.Code != http.StatusGatewayTimeout || !strings.Contains(w.Body.String(), "request did not complete within") {
			t.Errorf("%s while etcd is away: %d %s", request, w.Code, w.Body)
		}
	}
	if w := ask(s, "GET /readyz", ""); w.Code != http.StatusInternalServerError {
		t.Errorf("readyz while etcd is away: %d %s", w.Code, w.Body)
	}
	c.restart(t, 0)
	until(t, s, "GET "+things+"/before?timeout=1s", "", 200)
	until(t, s, "GET /readyz?timeout=1s", "", 200)
	must(t, s, "POST "+things, widget("after", ""))
	must(t, s, "POST "+things, widget("last", ""))
	watching.Wait()
	if f.seen["after"] != 1 || f.seen["before"] != 0 {
		t.Errorf("a watch was told of %v", f.seen)
	}
}

// Three servers on an etcd of three members, whose leader ends in the middle of writes and comes back: nothing that was acknowledged
// is lost, and every watcher is told of everything once.
func TestLeaderEnds(t *testing.T) {
	c := startCluster(t, 3)
	servers := three(t, c.endpoints())
	must(t, servers[0], "POST "+definitions, widgets(t))
	for _, s := range servers {
		until(t, s, "GET "+things, "", 200)
	}
	begin := must(t, servers[0], "GET "+things, "").Get("metadata", "resourceVersion").Str()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var watching, writing sync.WaitGroup
	var followers []*follower
	for i := range 6 {
		port := httptest.NewServer(servers[i%3])
		defer port.Close()
		f := &follower{url: port.URL, at: begin, seen: map[string]int{}}
		followers = append(followers, f)
		watching.Go(func() { f.follow(ctx, t) })
	}
	var mu sync.Mutex
	acknowledged, refused := map[string]bool{}, map[string]int{}
	end := make(chan struct{})
	for i := range 6 {
		writing.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-end:
					return
				default:
				}
				name := fmt.Sprintf("w%d-%d", i, n)
				w := ask(servers[(i+n)%3], "POST "+things+"?timeout=2s", widget(name, ""))
				mu.Lock()
				if w.Code == http.StatusCreated {
					acknowledged[name] = true
				} else {
					refused[fmt.Sprint(w.Code, " ", messageOf(w))]++
				}
				mu.Unlock()
			}
		})
	}
	count := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(acknowledged)
	}
	grow := func(by int) {
		for from := count(); count() < from+by && ctx.Err() == nil; {
			time.Sleep(time.Millisecond)
		}
	}
	for range 2 {
		grow(200)
		leader := c.leader()
		if leader < 0 {
			t.Fatal("nobody leads")
		}
		c.end(leader)
		grow(200)
		c.restart(t, leader)
	}
	grow(200)
	close(end)
	writing.Wait()
	until(t, servers[0], "POST "+things, widget("last", ""), 201)
	watching.Wait()
	t.Logf("%d writes were acknowledged; others were refused: %v", len(acknowledged), refused)
	stored := map[string]bool{}
	for item := range must(t, servers[1], "GET "+things, "").Get("items").Items() {
		stored[item.Get("metadata", "name").Str()] = true
	}
	for name := range acknowledged {
		if !stored[name] {
			t.Errorf("%s was acknowledged and is not there", name)
		}
	}
	for i, f := range followers {
		for name := range stored {
			if f.seen[name] != 1 {
				t.Errorf("watcher %d was told %d times of %s", i, f.seen[name], name)
			}
		}
		if len(f.seen) != len(stored) {
			t.Errorf("watcher %d was told of %d objects, and there are %d", i, len(f.seen), len(stored))
		}
	}
}

func messageOf(w *httptest.ResponseRecorder) string {
	var status struct{ Message string }
	if err := json.Unmarshal(w.Body.Bytes(), &status); err != nil {
		return w.Body.String()
	}
	return status.Message
}

// Of 10,000 operations on three stores of a cluster whose leader ends twice, those that were answered are linearizable.
func TestLinearizable(t *testing.T) {
	c := startCluster(t, 3)
	stores := make([]*etcd.Store, 3)
	for i := range stores {
		stores[i] = open(t, c.endpoints())
	}
	var asked atomic.Int64
	var disturbing sync.WaitGroup
	disturbing.Go(func() {
		for _, after := range []int64{2500, 6000} {
			for asked.Load() < after {
				time.Sleep(time.Millisecond)
			}
			if leader := c.leader(); leader >= 0 {
				c.end(leader)
				time.Sleep(time.Second)
				c.restart(t, leader)
			}
		}
	})
	storetest.Linearizable(t, storetest.History{
		Clients: 10, Each: 1000,
		Store: func() store.Store { return stores[int(asked.Add(1))%len(stores)] },
		Context: func(*rand.Rand) (context.Context, context.CancelFunc) {
			return context.WithTimeout(t.Context(), 3*time.Second)
		},
		Uncertain: func(err error) bool { return err != nil },
		Prefix:    "/registry/",
	})
	disturbing.Wait()
}
