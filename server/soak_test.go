package server_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/file"
)

// soak is a server under all kinds of load for a long time.
type soak struct {
	seed    uint64
	s       *server.Server
	url     string
	ctx     context.Context
	quiet   sync.RWMutex // is held by each client while it does one thing, and wholly while memory is looked at
	writes  int
	watches int
	mu      sync.Mutex // guards writes and watches
}

// TestSoak lets clients write, list, watch, break off and define for some seconds, or for DEED_SOAK, such as 30m: memory and goroutines
// stay as they are, and nothing is left when the clients are gone.
func TestSoak(t *testing.T) {
	long := 5 * time.Second
	if testing.Short() {
		long = time.Second
	}
	if text := os.Getenv("DEED_SOAK"); text != "" {
		var err error
		if long, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	objects, err := file.Open(filepath.Join(t.TempDir(), "store"))
	if err != nil {
		t.Fatal(err)
	}
	defer objects.Close()
	s, err := server.New(server.Config{
		Store: objects, Objects: servertest.WidgetDefinitions(t), Past: &store.Window{Age: 10 * time.Second, Count: 2000}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	port := httptest.NewServer(s)
	defer port.Close()
	before := servertest.Goroutines(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	k := &soak{seed: seeds.First(t), s: s, url: port.URL, ctx: ctx}
	var running sync.WaitGroup
	for i := range 6 {
		running.Go(func() { k.repeat(i, k.write) })
	}
	for i := range 20 {
		running.Go(func() { k.follow(seeds.Stream(k.seed, 200+i)) })
	}
	running.Go(func() { k.repeat(100, k.define) })
	running.Go(func() { k.repeat(101, k.fill) })
	samples := k.samples(long)
	cancel()
	running.Wait()
	http.DefaultClient.CloseIdleConnections()
	port.CloseClientConnections()
	servertest.Await(t, func() bool { return runtime.NumGoroutine() <= before })
	t.Logf("%d writes, %d watches in %v", k.writes, k.watches, long)
	standStill(t, samples)
}

// sample is what the process holds at a time.
type sample struct {
	heap       int64
	goroutines int
}

// samples looks at the process sixteen times, while the clients stand still.
func (k *soak) samples(long time.Duration) []sample {
	var out []sample
	for range 16 {
		time.Sleep(long / 16)
		k.quiet.Lock()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		out = append(out, sample{int64(m.HeapAlloc), runtime.NumGoroutine()})
		k.quiet.Unlock()
	}
	return out
}

// standStill compares the last quarter of the samples with the second one.
func standStill(t *testing.T, samples []sample) {
	t.Helper()
	mean := func(of []sample) (m sample) {
		for _, s := range of {
			m.heap += s.heap / int64(len(of))
			m.goroutines += s.goroutines
		}
		m.goroutines /= len(of)
		return m
	}
	n := len(samples)
	early, late := mean(samples[n/4:n/2]), mean(samples[n*3/4:])
	t.Logf("second quarter: %d kB, %d goroutines; last quarter: %d kB, %d goroutines",
		early.heap>>10, early.goroutines, late.heap>>10, late.goroutines)
	if late.heap > early.heap*5/4+(8<<20) || late.goroutines > early.goroutines*5/4+20 {
		t.Errorf("the process grows: %v", samples)
	}
}

// repeat does something again and again.
func (k *soak) repeat(stream int, do func(*rand.Rand)) {
	r := seeds.Stream(k.seed, stream)
	for k.ctx.Err() == nil {
		k.quiet.RLock()
		do(r)
		k.quiet.RUnlock()
	}
}

// write writes, reads or lists.
func (k *soak) write(r *rand.Rand) {
	path := fmt.Sprintf("%s/s%d", servertest.Things, r.IntN(200))
	body := fmt.Sprintf(`{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"","labels":{"l":"%d"}},"spec":{"replicas":%d}}`, r.IntN(2), r.IntN(10))
	switch r.IntN(8) {
	case 0:
		servertest.Ask(k.s, "DELETE "+path, "")
	case 1:
		servertest.Ask(k.s, "GET "+servertest.Things+"?limit=50&labelSelector=l%3D1", "")
	case 2:
		servertest.Ask(k.s, "GET "+path, "")
	default:
		servertest.Ask(k.s, "PATCH "+path+"?fieldManager=m&force=true"+servertest.ApplyPatch, body)
	}
	k.mu.Lock()
	k.writes++
	k.mu.Unlock()
}

// define defines a resource with an object, and deletes it.
func (k *soak) define(*rand.Rand) {
	const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	servertest.Ask(k.s, "POST "+definitions, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"cogs.soak.org"},
		"spec":{"group":"soak.org","scope":"Namespaced","names":{"plural":"cogs","kind":"Cog"},"versions":[{"name":"v1","served":true,"storage":true,
		"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`)
	servertest.Ask(k.s, "POST /apis/soak.org/v1/namespaces/default/cogs", `{"apiVersion":"soak.org/v1","kind":"Cog","metadata":{"name":"c"}}`)
	servertest.Ask(k.s, "GET /openapi/v3/apis/soak.org/v1", "")
	servertest.Ask(k.s, "DELETE "+definitions+"/cogs.soak.org", "")
	k.gone(definitions + "/cogs.soak.org")
}

// fill fills a namespace, and deletes it.
func (k *soak) fill(*rand.Rand) {
	servertest.Ask(k.s, "POST "+servertest.Core+"namespaces", `{"metadata":{"name":"soak"}}`)
	for i := range 10 {
		servertest.Ask(k.s, "POST "+servertest.Core+"namespaces/soak/configmaps", fmt.Sprintf(`{"metadata":{"name":"c%d"}}`, i))
	}
	servertest.Ask(k.s, "DELETE "+servertest.Core+"namespaces/soak", "")
	k.gone(servertest.Core + "namespaces/soak")
}

// gone waits until an object is.
func (k *soak) gone(path string) {
	for k.ctx.Err() == nil && servertest.Ask(k.s, "GET "+path, "").Code != http.StatusNotFound {
		time.Sleep(time.Millisecond)
	}
}

// follow watches, now as an informer begins and now from the present on, and breaks off.
func (k *soak) follow(r *rand.Rand) {
	for k.ctx.Err() == nil {
		k.quiet.RLock()
		ctx, cancel := context.WithTimeout(k.ctx, time.Duration(100+r.IntN(2000))*time.Millisecond)
		query := "?watch=true"
		if r.IntN(2) == 0 {
			query = "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&labelSelector=l%3D1"
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, k.url+servertest.Things+query, nil)
		if err != nil {
			panic(err) // the URL is one
		}
		answer, err := http.DefaultClient.Do(request)
		k.quiet.RUnlock()
		if err == nil {
			_, _ = io.Copy(io.Discard, answer.Body) // until it is broken off
			answer.Body.Close()
		}
		cancel()
		k.mu.Lock()
		k.watches++
		k.mu.Unlock()
	}
}
