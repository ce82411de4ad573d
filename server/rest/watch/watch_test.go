package watch

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/catalog/builtin"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/rest/read"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/memory"
)

// watchCounter is a store.Store that counts its watches.
type watchCounter struct {
	store.Store
	begun atomic.Int64
}

// Watch counts the call.
func (s *watchCounter) Watch(ctx context.Context, prefix string, after store.Revision) (iter.Seq2[store.Batch, error], error) {
	s.begun.Add(1)
	return s.Store.Watch(ctx, prefix, after)
}

// theater is a backend with watched ConfigMaps.
type theater struct {
	*testing.T
	*read.Reader
	hub     *Hub
	counter *watchCounter
	maps    *catalog.Version
	end     context.Context
	prints  atomic.Int64 // number of encoded events
}

func newTheater(t *testing.T) *theater {
	t.Helper()
	kinds, err := builtin.Kinds(builtin.Cluster{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(kinds, func(r *catalog.Resource) bool { return r.Plural == "configmaps" })
	counter := &watchCounter{Store: memory.New()}
	end, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	reader := &read.Reader{Store: counter, Now: time.Now}
	return &theater{T: t, Reader: reader, hub: &Hub{Reader: reader}, counter: counter, maps: kinds[i].Versions[0], end: end}
}

// write creates a ConfigMap, and returns the revision.
func (s *theater) write(namespace, name string) store.Revision {
	s.Helper()
	text := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q,"namespace":%q}}`, name, namespace)
	at, err := s.Store.Put(s.Context(), s.maps.Key(namespace, name), []byte(text), 0)
	if err != nil {
		s.Fatal(err)
	}
	return at
}

// other creates an object of another kind, and returns the revision.
func (s *theater) other(name string) store.Revision {
	s.Helper()
	at, err := s.Store.Put(s.Context(), "/other/"+name, []byte("{}"), 0)
	if err != nil {
		s.Fatal(err)
	}
	return at
}

// seat is a watch with the texts that it has sent.
type seat struct {
	*Watch
	t    *testing.T
	told []string
	over bool
}

// watch begins a watch of the ConfigMaps in a namespace, or in all, in a representation.
func (s *theater) watch(namespace, query, representation string) *seat {
	s.Helper()
	values, err := url.ParseQuery(query)
	if err != nil {
		s.Fatal(err)
	}
	r := rest.New(httptest.NewRequest(http.MethodGet, "/", nil), values, api.Target{Namespace: namespace}, s.maps)
	w, err := s.hub.Watch(r, s.Context(), s.end, Printer{Name: representation, Print: func(text []byte, e read.Event) ([]byte, error) {
		s.prints.Add(1)
		what := api.Meta(e.Object, "name") + "@" + api.Meta(e.Object, "resourceVersion")
		if e.Type == read.Failed {
			what = e.Object.Get("message").Str()
		}
		return fmt.Appendf(text, "%s %s %s\n", representation, e.Type, what), nil
	}})
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(w.Close)
	return &seat{Watch: w, t: s.T}
}

// hear sends the due events of the watch.
func (s *seat) hear() {
	s.t.Helper()
	on, err := s.Send(func(t Chunk) bool {
		s.told = append(s.told, strings.Split(strings.TrimSuffix(string(t.Text), "\n"), "\n")...)
		return true
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.over = !on
}

// isWoken reports whether the watch was woken since the last call.
func (s *seat) isWoken() bool {
	select {
	case <-s.More():
		return true
	default:
		return false
	}
}

// TestSharedWatches has many watches in two representations follow writes, some at once and some late. The store must be watched once for
// all of them, and each write must be encoded once per representation.
func TestSharedWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTheater(t)
		from := s.write("a", "first")
		var seats []*seat
		for i := range 40 {
			w := s.watch("", fmt.Sprint("resourceVersion=", from), []string{"json", "partial"}[i%2])
			seats = append(seats, w)
			w.hear()
		}
		synctest.Wait()
		var want []string
		for i := range 20 {
			at := s.write("a", fmt.Sprint("o", i))
			want = append(want, fmt.Sprintf(" ADDED o%d@%d", i, at))
			s.other(fmt.Sprint(i))
			time.Sleep(time.Second)
			for j, w := range seats {
				if !w.isWoken() {
					t.Fatalf("watch %d is not woken", j)
				}
				if i%(1+j) == 0 || i == 19 { // the late ones miss updates
					w.hear()
				}
			}
		}
		for j, w := range seats {
			representation := []string{"json", "partial"}[j%2]
			if got := strings.Join(w.told, "\n"); got != representation+strings.Join(want, "\n"+representation) {
				t.Errorf("watch %d was told\n%s", j, got)
			}
		}
		if got := s.prints.Load(); got != 40 {
			t.Errorf("20 events were printed %d times in 2 representations", got)
		}
		// A watch that missed an update asks the store once more.
		if got := s.counter.begun.Load(); got > 100 {
			t.Errorf("the store was watched %d times", got)
		}
	})
}

// TestDeletionBeforeFirstEvents deletes an object between the beginning of a watch and its first events. The client must be told of both.
func TestDeletionBeforeFirstEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTheater(t)
		created := s.write("a", "first")
		for _, query := range []string{
			"", "resourceVersion=0", "fieldSelector=metadata.name%3Dfirst",
			"watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
		} {
			w := s.watch("a", query, "json")
			deleted, err := s.Store.Delete(t.Context(), s.maps.Key("a", "first"), 0)
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			w.hear()
			want := []string{fmt.Sprint("json ADDED first@", created), fmt.Sprint("json DELETED first@", deleted)}
			if !slices.Equal(w.told, want) {
				t.Errorf("a watch with %q was told %q, want %q", query, w.told, want)
			}
			created = s.write("a", "first")
		}
	})
}

// TestPunctualWatches counts the watches of the store for watches that miss no update: one for all.
func TestPunctualWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTheater(t)
		from := s.write("a", "first")
		var seats []*seat
		for range 10 {
			w := s.watch("", fmt.Sprint("resourceVersion=", from), "json")
			seats = append(seats, w)
			w.hear()
		}
		synctest.Wait()
		for i := range 30 {
			s.write("a", fmt.Sprint("o", i))
			time.Sleep(time.Second)
			for _, w := range seats {
				w.hear()
			}
		}
		if got := s.counter.begun.Load(); got != 1 {
			t.Errorf("the store is watched %d times for 10 watches", got)
		}
		if got := s.prints.Load(); got != 30 {
			t.Errorf("30 events were printed %d times", got)
		}
	})
}

// TestPromptWatches writes twenty times a second. None of a hundred watches may wait, because all have received the earlier events.
func TestPromptWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTheater(t)
		from := s.write("a", "first")
		var seats []*seat
		for range 100 {
			seats = append(seats, s.watch("", fmt.Sprint("resourceVersion=", from), "json"))
		}
		synctest.Wait()
		for _, w := range seats {
			w.isWoken()
			w.hear()
		}
		for i := range 40 {
			s.write("a", fmt.Sprint("o", i))
			synctest.Wait() // no time may pass
			for _, w := range seats {
				if !w.isWoken() {
					t.Fatalf("a watch is not woken at once by write %d", i)
				}
				if w.hear(); len(w.told) != i+1 {
					t.Fatalf("after write %d a watch was told %q", i, w.told)
				}
			}
			time.Sleep(time.Second / 20)
		}
	})
}

// TestIdleWatches writes objects of another kind, and compacts the store. An idle watch is not woken and misses no later event, because it
// learns its revision on demand. A watch that has not received an event before its compaction is too late.
func TestIdleWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTheater(t)
		from := fmt.Sprint("resourceVersion=", s.write("a", "first"))
		idle := s.watch("", from+"&allowWatchBookmarks=true", "json")
		idle.hear()
		synctest.Wait()
		for idle.isWoken() {
			idle.hear()
		}
		late := s.watch("b", from, "json")
		late.hear()
		var latest store.Revision
		for i := range 1000 {
			latest = s.other(fmt.Sprint(i))
		}
		synctest.Wait()
		if idle.isWoken() {
			t.Error("the watch is woken by what is written elsewhere")
		}
		if err := s.Store.Compact(t.Context(), latest); err != nil {
			t.Fatal(err)
		}
		time.Sleep(bookmarkEvery)
		idle.hear()
		want := []string{fmt.Sprintf("json BOOKMARK @%d", latest)}
		for i := range 2 { // the watch misses one of them
			want = append(want, fmt.Sprintf("json ADDED o%d@%d", i, s.write("a", fmt.Sprint("o", i))))
			time.Sleep(time.Second)
		}
		idle.hear()
		if !slices.Equal(idle.told, want) {
			t.Errorf("the idle watch was told %q, want %q", idle.told, want)
		}
		oldest := s.write("b", "third")
		time.Sleep(time.Second)
		if err := s.Store.Compact(t.Context(), oldest); err != nil {
			t.Fatal(err)
		}
		s.write("b", "fourth")
		time.Sleep(time.Second)
		late.hear()
		want = []string{fmt.Sprintf("json ERROR too old resource version: %d (%d)", latest, oldest)}
		if !late.over || !slices.Equal(late.told, want) {
			t.Errorf("the late watch was told %q, want %q; it is over: %v", late.told, want, late.over)
		}
	})
}

// TestBroadcasterEnds closes watches, ends all of them, and lets the store fail. Nothing may be left over, and each watch must report its
// end.
func TestBroadcasterEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTheater(t)
		from := fmt.Sprint("resourceVersion=", s.write("a", "first"))
		one, other := s.watch("", from, "json"), s.watch("a", from, "json")
		one.hear()
		other.hear()
		one.Close()
		one.Close()
		if len(s.hub.broadcasters.of) != 1 || len(s.hub.feeds.of) != 1 {
			t.Errorf("one watch makes %d broadcasters and %d feeds", len(s.hub.broadcasters.of), len(s.hub.feeds.of))
		}
		other.Close()
		synctest.Wait()
		if len(s.hub.broadcasters.of) != 0 || len(s.hub.feeds.of) != 0 {
			t.Errorf("no watch makes %d broadcasters and %d feeds", len(s.hub.broadcasters.of), len(s.hub.feeds.of))
		}
		end, cancel := context.WithCancel(t.Context())
		s.end = end
		ended := s.watch("", from, "json")
		ended.hear()
		s.end = t.Context()
		failed := s.watch("", from, "json")
		failed.hear()
		synctest.Wait()
		cancel()
		synctest.Wait()
		if !ended.isWoken() {
			t.Error("the end wakes nobody")
		}
		if ended.hear(); !ended.over || len(ended.told) > 0 {
			t.Errorf("a watch that is over: %v, says %q", ended.over, ended.told)
		}
		if err := s.Store.Close(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if failed.hear(); !failed.over || !slices.Equal(failed.told, []string{"json ERROR " + store.ErrClosed.Error()}) {
			t.Errorf("a watch of a store that is closed: %v, says %q", failed.over, failed.told)
		}
	})
}
