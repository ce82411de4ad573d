package servertest

import (
	"bytes"
	"net/http"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// Patience is how long a test waits for what must happen: far more than it takes, as the machine may be busy.
const Patience = 5 * time.Minute

// Await waits until is returns true.
func Await(t testing.TB, is func() bool) {
	t.Helper()
	for begun := time.Now(); !is(); time.Sleep(time.Millisecond) {
		if time.Since(begun) > Patience {
			t.Fatal("the test has waited in vain")
		}
	}
}

// Goroutines returns how many goroutines run, once their number stays the same. A server that has just begun still starts some.
func Goroutines(t testing.TB) int {
	t.Helper()
	n, same := runtime.NumGoroutine(), 0
	Await(t, func() bool {
		if now := runtime.NumGoroutine(); now != n {
			n, same = now, 0
		}
		same++
		return same > 100 // each look is a millisecond or more after the one before
	})
	return n
}

// Unhindered calls do. It fails the test if do waits for a client that does not read or send.
func Unhindered(t testing.TB, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); do() }()
	select {
	case <-done:
	case <-time.After(Patience):
		t.Fatalf("%s waits for a slow client of another request", what)
	}
}

// Counting is an http.ResponseWriter that counts the lines of the body, which are the events of a watch.
type Counting struct {
	Begun  func()        // called once when the header is sent; may be nil
	Hold   chan struct{} // if it is not nil, each Write waits until it is closed
	Events atomic.Int64
	Writes atomic.Int64
	header http.Header
}

// Header returns the header.
func (w *Counting) Header() http.Header {
	if w.header == nil {
		w.header = http.Header{}
	}
	return w.header
}

// WriteHeader does nothing.
func (w *Counting) WriteHeader(int) {}

// Flush calls Begun at the first call.
func (w *Counting) Flush() {
	if w.Begun != nil {
		w.Begun()
		w.Begun = nil
	}
}

// Write counts the lines of b.
func (w *Counting) Write(b []byte) (int, error) {
	w.Writes.Add(1)
	if w.Hold != nil {
		<-w.Hold
	}
	w.Events.Add(int64(bytes.Count(b, []byte("\n"))))
	return len(b), nil
}

// MemoryInUse returns the bytes in use in the heap and in stacks.
func MemoryInUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// LiveHeap returns the bytes in use in the heap.
func LiveHeap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
