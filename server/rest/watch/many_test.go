package watch_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/server/store/memory"
)

// maxIdle is the memory that a watch may hold which waits for events, without what the connection takes.
const maxIdle = 24 << 10

// TestManyWatchers opens thousands of watches, of three kinds, writes, and counts that each gets every event that it is about. It counts
// the memory that they hold while they wait. DEED_WATCHERS says how many.
func TestManyWatchers(t *testing.T) {
	n := 3000
	if testing.Short() {
		n = 300
	}
	if text := os.Getenv("DEED_WATCHERS"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	s := servertest.Stage(t, memory.New())
	from := servertest.List(t, s, "").Metadata.ResourceVersion
	watchers := make([]*servertest.Counting, n)
	var begun, running sync.WaitGroup
	begun.Add(n)
	before := servertest.MemoryInUse()
	queries := []string{"", "&labelSelector=l%3D1", "&allowWatchBookmarks=true"}
	for i := range watchers {
		w := &servertest.Counting{Begun: begun.Done}
		watchers[i] = w
		r := httptest.NewRequest(http.MethodGet, servertest.Things+"?watch=true&resourceVersion="+from+queries[i%3], nil)
		r = r.WithContext(t.Context())
		running.Go(func() { s.ServeHTTP(w, r) })
	}
	begun.Wait()
	each := (servertest.MemoryInUse() - before) / int64(n)
	t.Logf("%d watches hold %d bytes each", n, each)
	if each > maxIdle {
		t.Errorf("a watch that waits holds %d bytes, and not at most %d", each, maxIdle)
	}
	const writes = 20
	spent := time.Now()
	for i := range writes {
		body := fmt.Sprintf(`{"metadata":{"labels":{"l":"%d"},"annotations":{"n":"%d"}}}`, i/10, i)
		if w := servertest.Ask(s, "PATCH "+servertest.Things+"/web Content-Type=application/merge-patch+json", body); w.Code != http.StatusOK {
			t.Fatal(w.Body)
		}
	}
	for i, w := range watchers {
		want := int64(writes)
		if strings.Contains(queries[i%3], "l%3D1") {
			want = writes / 2
		}
		servertest.Await(t, func() bool { return w.Events.Load() >= want })
		if got := w.Events.Load(); got != want {
			t.Fatalf("watcher %d got %d events, and not %d", i, got, want)
		}
	}
	t.Logf("%d writes were told to %d watchers within %v", writes, n, time.Since(spent))
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	running.Wait()
}

// A watcher that takes nothing does not keep others from what happens, and once it does, it gets all that it missed in one piece.
func TestSlowWatcher(t *testing.T) {
	s := servertest.Stage(t, memory.New())
	from := servertest.List(t, s, "").Metadata.ResourceVersion
	slow, quick := &servertest.Counting{Hold: make(chan struct{})}, &servertest.Counting{}
	var begun, running sync.WaitGroup
	for _, w := range []*servertest.Counting{slow, quick} {
		begun.Add(1)
		w.Begun = begun.Done
		r := httptest.NewRequest(http.MethodGet, servertest.Things+"?watch=true&resourceVersion="+from, nil).WithContext(t.Context())
		running.Go(func() { s.ServeHTTP(w, r) })
	}
	begun.Wait()
	label := func(i int) {
		servertest.Unhindered(t, "a write", func() {
			servertest.Ask(s, "PATCH "+servertest.Things+"/web Content-Type=application/merge-patch+json", fmt.Sprintf(`{"metadata":{"labels":{"n":"%d"}}}`, i))
		})
	}
	label(0)
	servertest.Await(t, func() bool { return slow.Writes.Load() == 1 })
	const more = 50
	for i := range more {
		label(i + 1)
	}
	servertest.Await(t, func() bool { return quick.Events.Load() == more+1 })
	close(slow.Hold)
	servertest.Await(t, func() bool { return slow.Events.Load() == more+1 })
	if n := slow.Writes.Load(); n != 2 {
		t.Errorf("what the watcher missed came in %d pieces", n-1)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	running.Wait()
}
