package server_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/deed-project/deed/server/store/memory"
)

// counting is the answer to a watch of which only the number of events is kept: http.ResponseWriter.
type counting struct {
	header http.Header
	begun  func()
	events atomic.Int64
	writes atomic.Int64
	hold   chan struct{} // if there is one, each Write waits until it is closed
}

func (w *counting) Header() http.Header { return w.header }
func (w *counting) WriteHeader(int)     {}
func (w *counting) Flush() {
	if w.begun != nil {
		w.begun()
		w.begun = nil
	}
}

func (w *counting) Write(b []byte) (int, error) {
	w.writes.Add(1)
	if w.hold != nil {
		<-w.hold
	}
	w.events.Add(int64(bytes.Count(b, []byte("\n"))))
	return len(b), nil
}

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
	s := stage(t, memory.New())
	from := listOf(t, s, "").Metadata.ResourceVersion
	watchers := make([]*counting, n)
	var begun, running sync.WaitGroup
	begun.Add(n)
	before := held()
	queries := []string{"", "&labelSelector=l%3D1", "&allowWatchBookmarks=true"}
	for i := range watchers {
		w := &counting{header: http.Header{}, begun: begun.Done}
		watchers[i] = w
		r := httptest.NewRequest(http.MethodGet, things+"?watch=true&resourceVersion="+from+queries[i%3], nil)
		r = r.WithContext(t.Context())
		running.Go(func() { s.ServeHTTP(w, r) })
	}
	begun.Wait()
	each := (held() - before) / int64(n)
	t.Logf("%d watches hold %d bytes each", n, each)
	if each > maxIdle {
		t.Errorf("a watch that waits holds %d bytes, and not at most %d", each, maxIdle)
	}
	const writes = 20
	spent := time.Now()
	for i := range writes {
		body := fmt.Sprintf(`{"metadata":{"labels":{"l":"%d"},"annotations":{"n":"%d"}}}`, i/10, i)
		if w := ask(s, "PATCH "+things+"/web Content-Type=application/merge-patch+json", body); w.Code != http.StatusOK {
			t.Fatal(w.Body)
		}
	}
	for i, w := range watchers {
		want := int64(writes)
		if strings.Contains(queries[i%3], "l%3D1") {
			want = writes / 2
		}
		await(t, func() bool { return w.events.Load() >= want })
		if got := w.events.Load(); got != want {
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
	s := stage(t, memory.New())
	from := listOf(t, s, "").Metadata.ResourceVersion
	slow, quick := &counting{header: http.Header{}, hold: make(chan struct{})}, &counting{header: http.Header{}}
	var begun, running sync.WaitGroup
	for _, w := range []*counting{slow, quick} {
		begun.Add(1)
		w.begun = begun.Done
		r := httptest.NewRequest(http.MethodGet, things+"?watch=true&resourceVersion="+from, nil).WithContext(t.Context())
		running.Go(func() { s.ServeHTTP(w, r) })
	}
	begun.Wait()
	label := func(i int) {
		unhindered(t, "a write", func() {
			ask(s, "PATCH "+things+"/web Content-Type=application/merge-patch+json", fmt.Sprintf(`{"metadata":{"labels":{"n":"%d"}}}`, i))
		})
	}
	label(0)
	await(t, func() bool { return slow.writes.Load() == 1 })
	const more = 50
	for i := range more {
		label(i + 1)
	}
	await(t, func() bool { return quick.events.Load() == more+1 })
	close(slow.hold)
	await(t, func() bool { return slow.events.Load() == more+1 })
	if n := slow.writes.Load(); n != 2 {
		t.Errorf("what the watcher missed came in %d pieces", n-1)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	running.Wait()
}

// patience is how long a test waits for what must happen: far more than it takes, as the machine may be busy.
const patience = 5 * time.Minute

// await waits until something is so.
func await(t *testing.T, is func() bool) {
	t.Helper()
	for begun := time.Now(); !is(); time.Sleep(time.Millisecond) {
		if time.Since(begun) > patience {
			t.Fatal("it does not come to pass")
		}
	}
}

// held returns the memory that is in use, of the heap and of stacks.
func held() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
