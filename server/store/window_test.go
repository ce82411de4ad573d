package store_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/memory"
)

// past returns the oldest revision that can be read.
func past(t *testing.T, s store.Store, latest store.Revision) store.Revision {
	t.Helper()
	for at := store.Revision(1); at <= latest; at++ {
		_, err := s.Range(t.Context(), store.Range{At: at})
		if err == nil {
			return at
		}
		if !errors.Is(err, store.ErrCompacted) {
			t.Fatal(err)
		}
	}
	t.Fatal("nothing can be read")
	return 0
}

// TestWindow writes once a second and ticks after each write: revision r is of second r-1.
func TestWindow(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		window store.Window
		past   map[int]store.Revision // by seconds
	}{
		{store.Window{Age: 10 * time.Second}, map[int]store.Revision{5: 1, 10: 1, 11: 2, 12: 3, 30: 21}},
		{store.Window{Age: time.Hour, Count: 4}, map[int]store.Revision{3: 1, 5: 2, 30: 27}},
		{store.Window{}, map[int]store.Revision{1: 2, 30: 31}},
	} {
		s := memory.New()
		k := store.NewKeeper(s, c.window)
		for second := 1; second <= 30; second++ {
			latest, err := s.Put(t.Context(), fmt.Sprint("/", second), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			if err := k.Tick(t.Context(), start.Add(time.Duration(second)*time.Second)); err != nil {
				t.Fatal(err)
			}
			if want, ok := c.past[second]; ok && past(t, s, latest) != want {
				t.Errorf("%+v: after %d s the past begins at %d, want %d", c.window, second, past(t, s, latest), want)
			}
		}
	}
}

// TestWindowBytes checks that the history is cut to the bytes of the window. Current records do not count.
func TestWindowBytes(t *testing.T) {
	s, now := memory.New(), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	k := store.NewKeeper(s, store.Window{Age: time.Hour, Bytes: 9})
	var latest store.Revision
	put := func(key string, expect store.Revision) {
		var err error
		if latest, err = s.Put(t.Context(), key, []byte("abc"), expect); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 10 {
		put(fmt.Sprint("/", i), 0) // revisions 2 to 11 replace nothing
	}
	for i := range 8 { // revisions 12 to 19 replace 3 bytes each
		put("/0", []store.Revision{2, latest}[min(i, 1)])
		if want := i+1 > 3; k.IsFull() != want {
			t.Errorf("after %d writes IsFull is %v", i+1, k.IsFull())
		}
	}
	if err := k.Tick(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	if got := past(t, s, latest); got != 16 || k.IsFull() || s.PastBytes() != 9 {
		t.Errorf("the past begins at %d and has %d bytes", got, s.PastBytes())
	}
	if _, err := s.Delete(t.Context(), "/1", 0); err != nil || s.PastBytes() != 12 {
		t.Errorf("after a deletion the past has %d bytes: %v", s.PastBytes(), err)
	}
}

// TestWindowClock checks clocks that jump. A clock that goes back deletes nothing early, and one that jumps ahead deletes no current
// record.
func TestWindowClock(t *testing.T) {
	s := memory.New()
	k := store.NewKeeper(s, store.Window{Age: time.Minute})
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, at := range []time.Duration{0, time.Second, -time.Hour, 2 * time.Second} {
		if _, err := s.Put(t.Context(), fmt.Sprint("/", i), nil, 0); err != nil {
			t.Fatal(err)
		}
		if err := k.Tick(t.Context(), start.Add(at)); err != nil {
			t.Fatal(err)
		}
	}
	if got := past(t, s, 5); got != 1 {
		t.Errorf("the past begins at %d after the clock went back", got)
	}
	if err := k.Tick(t.Context(), start.Add(24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	page, err := s.Range(t.Context(), store.Range{})
	if err != nil || len(page.Records) != 4 || past(t, s, 5) != 5 {
		t.Errorf("after a day there are %d records, %v, and the past begins at %d", len(page.Records), err, past(t, s, 5))
	}
}

// TestWindowExpires checks that the keeper deletes expired records.
func TestWindowExpires(t *testing.T) {
	s, start := memory.New(), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if _, err := s.PutUntil(t.Context(), "/a", nil, 0, start); err != nil {
		t.Fatal(err)
	}
	if err := store.NewKeeper(s, store.Window{Age: time.Minute}).Tick(t.Context(), start); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), "/a", 0); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a record that is over: %v", err)
	}
}
