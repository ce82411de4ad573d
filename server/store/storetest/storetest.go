// Package storetest has the tests of the store.Store contract. An implementation's own test calls [Run].
package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/deed-project/deed/server/store"
)

// WithoutHistory is a store that does not know what happened since a revision, such as one on an old etcd.
type WithoutHistory struct{ store.Store }

// Since returns errors.ErrUnsupported.
func (WithoutHistory) Since(context.Context, string, store.Revision) (store.Batch, error) {
	return store.Batch{}, errors.ErrUnsupported
}

// Config configures the tests of an implementation.
type Config struct {
	// Open returns an empty store. The test closes it.
	Open func(t testing.TB) store.Store

	// Expires reports whether Expire deletes records, instead of the store itself.
	Expires bool
}

// Run runs each test as a subtest.
func Run(t *testing.T, c Config) {
	open := func(t testing.TB) store.Store {
		s := c.Open(t)
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
		return s
	}
	for _, law := range []struct {
		name string
		test func(*testing.T, store.Store)
	}{
		{"writes", writes},
		{"conflicts", conflicts},
		{"ranges", ranges},
		{"snapshots", snapshots},
		{"compaction", compaction},
		{"watches", watches},
		{"since", since},
		{"watch ends", watchEnds},
		{"resumed watches", resumedWatches},
		{"linearizable", linearizable},
		{"closed", closed},
	} {
		t.Run(law.name, func(t *testing.T) { law.test(t, open(t)) })
	}
	if c.Expires {
		t.Run("expiry", func(t *testing.T) { expiry(t, open(t)) })
	}
}

// writes: every write makes a larger revision, and records have the revisions of their creation and last write.
func writes(t *testing.T, s store.Store) {
	ctx := t.Context()
	created := must(s.Put(ctx, "/a", []byte("1"), 0))(t)
	written := must(s.Put(ctx, "/a", []byte("2"), created))(t)
	other := must(s.Put(ctx, "/b", nil, 0))(t)
	expect(t, s, "/a", 0, store.Record{Key: "/a", Text: []byte("2"), Created: created, Revision: written})
	expect(t, s, "/b", 0, store.Record{Key: "/b", Text: []byte{}, Created: other, Revision: other})
	deleted := must(s.Delete(ctx, "/a", written))(t)
	absent(t, s, "/a", 0)
	again := must(s.Put(ctx, "/a", []byte("3"), 0))(t)
	expect(t, s, "/a", 0, store.Record{Key: "/a", Text: []byte("3"), Created: again, Revision: again})
	unconditional := must(s.Delete(ctx, "/a", 0))(t)
	last := store.Revision(1)
	for _, r := range []store.Revision{created, written, other, deleted, again, unconditional} {
		if r <= last {
			t.Errorf("revision %d comes after %d", r, last)
		}
		last = r
	}
}

// conflicts: a write that expects another revision than the stored one changes nothing and returns the stored record.
func conflicts(t *testing.T, s store.Store) {
	ctx := t.Context()
	first := must(s.Put(ctx, "/a", []byte("1"), 0))(t)
	current := store.Record{Key: "/a", Text: []byte("1"), Created: first, Revision: first}
	for _, wrong := range []store.Revision{0, first - 1, first + 1} {
		_, err := s.Put(ctx, "/a", []byte("2"), wrong)
		conflict(t, err, wrong, current)
		if wrong != 0 {
			_, err = s.Delete(ctx, "/a", wrong)
			conflict(t, err, wrong, current)
		}
	}
	_, err := s.Put(ctx, "/none", []byte("2"), first)
	conflict(t, err, first, store.Record{})
	for _, r := range []store.Revision{0, first} {
		if _, err := s.Delete(ctx, "/none", r); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("deleting nothing: %v", err)
		}
	}
	expect(t, s, "/a", 0, current)
	if page := must(s.Range(ctx, store.Range{}))(t); page.Revision != first {
		t.Errorf("the revision is %d after refused writes, want %d", page.Revision, first)
	}
}

// closed: every method fails after Close, and Close may be called again.
func closed(t *testing.T, s store.Store) {
	ctx := t.Context()
	revision := must(s.Put(ctx, "/a", []byte("1"), 0))(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, get := s.Get(ctx, "/a", 0)
	_, list := s.Range(ctx, store.Range{})
	_, put := s.Put(ctx, "/b", nil, 0)
	_, deleted := s.Delete(ctx, "/a", revision)
	_, watched := s.Watch(ctx, "", revision)
	for i, err := range []error{get, list, put, deleted, watched, s.Compact(ctx, revision)} {
		if !errors.Is(err, store.ErrClosed) {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// expiry: a record is deleted after its expiry time, unless it was written again.
func expiry(t *testing.T, s store.Store) {
	ctx, start := t.Context(), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	must(s.PutUntil(ctx, "/a", []byte("1"), 0, start.Add(time.Second)))(t)
	b := must(s.PutUntil(ctx, "/b", []byte("1"), 0, start.Add(time.Second)))(t)
	must(s.PutUntil(ctx, "/c", []byte("1"), 0, start.Add(time.Minute)))(t)
	must(s.Put(ctx, "/b", []byte("2"), b))(t)
	for _, step := range []struct {
		after time.Duration
		keys  string
	}{{0, "[/a /b /c]"}, {time.Second, "[/b /c]"}, {2 * time.Second, "[/b /c]"}, {time.Hour, "[/b]"}} {
		if err := s.Expire(ctx, start.Add(step.after)); err != nil {
			t.Fatal(err)
		}
		var keys []string
		for _, r := range must(s.Range(ctx, store.Range{}))(t).Records {
			keys = append(keys, r.Key)
		}
		if fmt.Sprint(keys) != step.keys {
			t.Errorf("after %v there is %v, want %s", step.after, keys, step.keys)
		}
	}
}

// must returns a function that returns the result of a method, or fails the test.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func expect(t *testing.T, s store.Store, key string, at store.Revision, want store.Record) {
	t.Helper()
	if got := must(s.Get(context.Background(), key, at))(t); !same(got, want) {
		t.Errorf("%s at %d is %s, want %s", key, at, show(got), show(want))
	}
}

func absent(t *testing.T, s store.Store, key string, at store.Revision) {
	t.Helper()
	if got, err := s.Get(context.Background(), key, at); !errors.Is(err, store.ErrNotFound) || got.Key != "" {
		t.Errorf("%s at %d is %s, %v", key, at, show(got), err)
	}
}

func conflict(t *testing.T, err error, expected store.Revision, current store.Record) {
	t.Helper()
	var c *store.ConflictError
	if !errors.As(err, &c) || !errors.Is(err, store.ErrConflict) || c.Expected != expected || !same(c.Current, current) {
		t.Errorf("expecting %d is answered by %v, want a conflict with %s", expected, err, show(current))
	}
}

func same(a, b store.Record) bool { return show(a) == show(b) }

func show(r store.Record) string {
	return fmt.Sprintf("%s=%q (%d, %d)", r.Key, r.Text, r.Created, r.Revision)
}
