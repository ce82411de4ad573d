package storetest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/server/store"
)

// patience bounds the wait for an event. Only a failing test takes that long.
const patience = time.Minute

// watches: after any revision, a watch has every event on its prefix exactly once, in order, and not before its time.
func watches(t *testing.T, s store.Store) {
	m, r := started(t, s)
	grow(t, s, m, r, 60)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var readers sync.WaitGroup
	for _, i := range []int{0, 1, 30, 59, 60} {
		for _, prefix := range []string{"", "/r/a/", "/none"} {
			seq := must(s.Watch(ctx, prefix, m.revisions[i]))(t)
			after := m.revisions[i]
			readers.Go(func() { follow(t, s, prefix, after, seq) })
		}
	}
	grow(t, s, m, r, 60)
	must(s.Put(ctx, "/end", nil, 0))(t)
	readers.Wait()
	for _, prefix := range []string{"", "/r/", "/r/a/", "/q", "/none"} {
		m.checkEvents(t, prefix, collect(t, s, prefix, m.revisions[0], m.latest()))
	}
}

// since: the events since any revision are the first events of a watch from there, up to the latest revision. A store may return
// ErrUnsupported.
func since(t *testing.T, s store.Store) {
	ctx := t.Context()
	if _, err := s.Since(ctx, "", 1); errors.Is(err, errors.ErrUnsupported) {
		t.Skip("the store does not know by itself what happened")
	}
	m, r := started(t, s)
	grow(t, s, m, r, 60)
	for _, i := range []int{0, 1, 30, 59, 60} {
		for _, prefix := range []string{"", "/r/a/", "/none"} {
			batch := must(s.Since(ctx, prefix, m.revisions[i]))(t)
			var want []store.Event
			if m.revisions[i] < m.latest() {
				want = collect(t, s, prefix, m.revisions[i], m.latest())
			}
			same := func(a, b store.Event) bool { return showEvent(a) == showEvent(b) }
			if !slices.EqualFunc(batch.Events, want, same) || batch.Revision != m.latest() {
				t.Errorf("since %d on %q there are %d events up to %d, want %d up to %d",
					m.revisions[i], prefix, len(batch.Events), batch.Revision, len(want), m.latest())
			}
		}
	}
	if _, err := s.Since(ctx, "", m.latest()+1); !errors.Is(err, store.ErrFuture) {
		t.Errorf("since a revision that is still to come: %v", err)
	}
	if err := s.Compact(ctx, m.revisions[30]); err != nil {
		t.Fatal(err)
	}
	must(s.Since(ctx, "", m.revisions[30]))(t)
	if _, err := s.Since(ctx, "", m.revisions[29]); !errors.Is(err, store.ErrCompacted) {
		t.Errorf("since a revision that is gone: %v", err)
	}
}

// follow reads a watch until /end is written, and checks the order of events.
func follow(t *testing.T, s store.Store, prefix string, after store.Revision, seq iter.Seq2[store.Batch, error]) {
	last := after
	for batch, err := range seq {
		if err != nil {
			t.Errorf("watching %q: %v", prefix, err)
			return
		}
		for _, e := range batch.Events {
			if e.Revision <= last || e.Revision > batch.Revision || !strings.HasPrefix(e.Key, prefix) {
				t.Errorf("watching %q after %d: %s comes after %d, up to %d", prefix, after, show(e.Record), last, batch.Revision)
			}
			last = e.Revision
		}
		last = max(last, batch.Revision)
		if p, err := s.Get(context.Background(), "/end", 0); err == nil && last >= p.Revision {
			return
		}
	}
	t.Errorf("watching %q ended at %d", prefix, last)
}

// collect returns the events on a prefix after one revision and up to another.
func collect(t *testing.T, s store.Store, prefix string, after, to store.Revision) []store.Event {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var events []store.Event
	for batch, err := range must(s.Watch(ctx, prefix, after))(t) {
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range batch.Events {
			if e.Revision <= to {
				events = append(events, e)
			}
		}
		if batch.Revision >= to {
			break
		}
	}
	if ctx.Err() != nil {
		t.Fatalf("nothing comes up to %d", to)
	}
	return events
}

// checkEvents compares events with the states of the model, from its first revision on.
func (m *model) checkEvents(t *testing.T, prefix string, events []store.Event) {
	t.Helper()
	var want, got []string
	for i, at := range m.revisions[1:] {
		before, now := m.states[m.revisions[i]], m.states[at]
		for _, key := range slices.Sorted(maps.Keys(before)) {
			if _, ok := now[key]; !ok && strings.HasPrefix(key, prefix) {
				gone := store.Record{Key: key, Created: before[key].Created, Revision: at}
				want = append(want, showEvent(store.Event{Record: gone, Deleted: true, Previous: before[key].Text}))
			}
		}
		for _, key := range slices.Sorted(maps.Keys(now)) {
			if now[key].Revision == at && strings.HasPrefix(key, prefix) {
				want = append(want, showEvent(store.Event{Record: now[key], Previous: before[key].Text}))
			}
		}
	}
	for _, e := range events {
		got = append(got, showEvent(e))
	}
	if !slices.Equal(got, want) {
		t.Errorf("events on %q are\n%s\nwant\n%s", prefix, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func showEvent(e store.Event) string {
	return fmt.Sprintf("%s deleted %v previous %q", show(e.Record), e.Deleted, e.Previous)
}

// watchEnds: a watch ends when its context is done, when its next revision is compacted, and when the store is closed. A watch from a
// future revision waits.
func watchEnds(t *testing.T, s store.Store) {
	m, r := started(t, s)
	grow(t, s, m, r, 20)
	ctx, cancel := context.WithCancel(t.Context())
	waiting := must(s.Watch(ctx, "", m.latest()+5))(t)
	ended := make(chan error, 1)
	var early []store.Event
	go func() {
		var last error
		for batch, err := range waiting {
			early, last = append(early, batch.Events...), err
		}
		ended <- last
	}()
	grow(t, s, m, r, 5)
	cancel()
	select {
	case err := <-ended:
		if err != nil || len(early) > 0 {
			t.Errorf("a cancelled watch of the future ends with %v and %v", err, early)
		}
	case <-time.After(patience):
		t.Fatal("a cancelled watch does not end")
	}
	slow := must(s.Watch(t.Context(), "", m.revisions[3]))(t)
	if err := s.Compact(t.Context(), m.revisions[10]); err != nil {
		t.Fatal(err)
	}
	_, err := s.Watch(t.Context(), "", m.revisions[9])
	var gone *store.CompactedError
	if !errors.As(err, &gone) || gone.Oldest != m.revisions[10] {
		t.Errorf("watching what is compacted, up to %d: %v", m.revisions[10], err)
	}
	if err := lastOf(slow); !errors.Is(err, store.ErrCompacted) {
		t.Errorf("a slow watch ends with %v", err)
	}
	m.revisions = m.revisions[10:]
	m.checkEvents(t, "", collect(t, s, "", m.revisions[0], m.latest()))
	open := must(s.Watch(t.Context(), "", m.latest()))(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := lastOf(open); !errors.Is(err, store.ErrClosed) {
		t.Errorf("a watch of a closed store ends with %v", err)
	}
}

func lastOf(seq iter.Seq2[store.Batch, error]) error {
	var last error
	for _, err := range seq {
		last = err
	}
	return last
}

// resumedWatches: watchers stop at random and resume after the last event that they read. They end with the content of the store despite
// concurrent writes.
func resumedWatches(t *testing.T, s store.Store) {
	const writers, watchers, each = 4, 8, 100
	start := must(s.Range(t.Context(), store.Range{}))(t).Revision
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	seed := seeds.First(t)
	var writing, watching sync.WaitGroup
	states := make([]map[string]string, watchers)
	for i := range watchers {
		r := seeds.Stream(seed, i)
		watching.Go(func() { states[i] = replay(ctx, t, s, r, start) })
	}
	for i := range writers {
		r := seeds.Stream(seed, watchers+i)
		writing.Go(func() { scribble(ctx, t, s, r, each) })
	}
	writing.Wait()
	must(s.Put(ctx, "/end", nil, 0))(t)
	watching.Wait()
	want := map[string]string{}
	for _, r := range must(s.Range(ctx, store.Range{}))(t).Records {
		want[r.Key] = show(r)
	}
	for i, got := range states {
		if !maps.Equal(got, want) {
			t.Errorf("watcher %d has %v, want %v", i, got, want)
		}
	}
}

// scribble makes n random writes and ignores conflicts.
func scribble(ctx context.Context, t *testing.T, s store.Store, r *rand.Rand, n int) {
	for i := range n {
		key := keys[r.IntN(len(keys))]
		current, err := s.Get(ctx, key, 0)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			t.Error(err)
			return
		}
		if current.Revision != 0 && r.IntN(4) == 0 {
			_, err = s.Delete(ctx, key, current.Revision)
		} else {
			_, err = s.Put(ctx, key, fmt.Append(nil, i), current.Revision)
		}
		if err != nil && !errors.Is(err, store.ErrConflict) && !errors.Is(err, store.ErrNotFound) {
			t.Error(err)
			return
		}
	}
}

// replay follows the store until the end is written, in watches that it breaks off. It returns the records that it knows then.
func replay(ctx context.Context, t *testing.T, s store.Store, r *rand.Rand, after store.Revision) map[string]string {
	state := map[string]string{}
	for state["/end"] == "" && ctx.Err() == nil {
		seq, err := s.Watch(ctx, "", after)
		if err != nil {
			t.Error(err)
			return nil
		}
		for batch, err := range seq {
			if err != nil {
				t.Error(err)
				return nil
			}
			for _, e := range batch.Events {
				if e.Deleted {
					delete(state, e.Key)
				} else {
					state[e.Key] = show(e.Record)
				}
			}
			after = batch.Revision
			if r.IntN(3) == 0 || state["/end"] != "" {
				break
			}
		}
	}
	return state
}
