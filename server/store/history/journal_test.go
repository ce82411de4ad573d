package history

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/deed-project/deed/server/store"
)

// diary is a journal that reports the begin of a commit, and ends the commit on a signal.
type diary struct {
	begun   chan []Change
	outcome chan error
}

func (d diary) Commit(changes []Change) error {
	d.begun <- changes
	return <-d.outcome
}

func (diary) Compact(store.Revision, []store.Revision) error { return nil }
func (diary) Close() error                                   { return nil }

func newDiary(t *testing.T) (diary, *Store) {
	d := diary{make(chan []Change), make(chan error)}
	s, err := New(d, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	return d, s
}

// TestGroupCommit checks that writes that arrive during a commit are committed together, and that no reader sees them before.
func TestGroupCommit(t *testing.T) {
	d, s := newDiary(t)
	var writing sync.WaitGroup
	put := func(key string) {
		writing.Go(func() {
			if _, err := s.Put(t.Context(), key, nil, 0); err != nil {
				t.Error(err)
			}
		})
	}
	put("/first")
	if got := <-d.begun; len(got) != 1 {
		t.Fatalf("the first commit has %d changes", len(got))
	}
	const many = 50
	for i := range many {
		put(fmt.Sprint("/", i))
	}
	for { // until all writes wait
		s.mu.Lock()
		n := len(s.waiting)
		s.mu.Unlock()
		if n == many {
			break
		}
	}
	if _, err := s.Get(t.Context(), "/first", 0); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a record can be read before it is committed: %v", err)
	}
	d.outcome <- nil
	if got := <-d.begun; len(got) != many {
		t.Errorf("the second commit has %d changes, want %d", len(got), many)
	}
	d.outcome <- nil
	writing.Wait()
}

// TestJournalFails checks that a write that the journal refuses has no effect, and that later writes succeed.
func TestJournalFails(t *testing.T) {
	d, s := newDiary(t)
	full := errors.New("no space left on device")
	for i, failure := range []error{nil, full, full, nil} {
		go func() {
			if changes := <-d.begun; changes[0].Revision != store.Revision(min(i, 1)+2) {
				t.Errorf("write %d is to make revision %d", i, changes[0].Revision)
			}
			d.outcome <- failure
		}()
		key := fmt.Sprint("/", i)
		_, err := s.Put(t.Context(), key, nil, 0)
		if !errors.Is(err, failure) {
			t.Errorf("write %d: %v, want %v", i, err, failure)
		}
		if _, err := s.Get(t.Context(), key, 0); (err == nil) != (failure == nil) {
			t.Errorf("reading write %d: %v", i, err)
		}
	}
}
