// Package history keeps records and their history in memory, and hands each change to a journal that persists it. Packages memory and file
// share it.
//
// Its nouns are the [Store] and the [Journal]. A Store commits every [Change] to the journal before any reader sees the change.
package history

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/deed-project/deed/server/store"
)

// Change is one write for a journal: a put under a key, or a deletion.
//
// Created of a change is the revision that created the key.
type Change struct {
	store.Record // without a text for a deletion
	Deleted      bool
	Until        time.Time // the expiry time; zero for none
}

// Journal persists changes. Its methods are called by one goroutine at a time.
//
// A Store calls it with Store.writing held, before readers see the changes: what a reader has seen is persistent.
type Journal interface {
	// Commit persists all changes or none. Their revisions continue those of earlier changes.
	Commit(changes []Change) error

	// Compact drops the changes with the revisions in forget, which do not affect the records at revision to and later. After a restart,
	// New gets to as the compacted revision.
	Compact(to store.Revision, forget []store.Revision) error

	// Close is the last call.
	Close() error
}

// Store implements store.Store in memory. Reads and watches never wait for writes. They take no lock unless they read the past. Writes that
// arrive during a commit wait, and the next commit takes all of them together.
//
// A state is immutable and complete. A write makes a new one and swaps the pointer:
//
//	readers    load now, and read that state without a lock as long as they like
//	writer     copies the state, appends versions, commits them to the journal, swaps now, closes the old state's next
//	watches    wait for next of the state that they have seen
type Store struct {
	journal Journal // nil for none
	now     atomic.Pointer[state]
	past    past
	// kept is nil before the first commit. A store without a journal sets it never.
	kept atomic.Pointer[error] // the error of the last commit

	mu      sync.Mutex // guards waiting
	waiting []*write

	// Lock order: writing, then mu. Callers take mu alone to enqueue, too.
	writing sync.Mutex // held during a commit; guards the fields below
	expiry  expiry
	closed  bool
}

// entry is a record in a tree.
//
// It is immutable, and shared by trees, versions and events.
type entry struct {
	store.Record
	until time.Time
}

// version is the write of one revision.
//
// It is immutable. entry and before are all that the event of a watch and undo need.
type version struct {
	entry   *entry // what was put; for a deletion the key and revisions, without a text
	before  *entry // the record before; nil for none
	deleted bool
}

// event returns v as an event for watches.
func (v version) event() store.Event {
	e := store.Event{Record: v.entry.Record, Deleted: v.deleted}
	if v.before != nil {
		e.Previous = v.before.Text
	}
	return e
}

// state is the state that readers see. It is immutable, except that next is closed when a newer state replaces it.
type state struct {
	// Invariant: versions[i] has revision compacted + 1 + i, and tree has the records of the latest revision.
	versions  []version
	compacted store.Revision
	tree      tree
	past      int64  // bytes of the texts that versions replaced or deleted
	marks     []tree // trees of every stride-th revision from firstMark on; see past
	closed    bool
	next      chan struct{}
}

// latest returns the revision of the last write, or the compacted revision if there is none after it.
func (s *state) latest() store.Revision { return s.compacted + store.Revision(len(s.versions)) }

// after returns the versions after one revision up to another.
// It returns a part of s.versions, which must not be modified.
func (s *state) after(from, to store.Revision) []version {
	return s.versions[from-s.compacted : to-s.compacted]
}

// New returns a store with the changes of a journal in order of revision. compacted is the revision of the journal's last Compact, or 1. A
// nil journal is allowed. The error is the first error of changes, or says that revisions are not consecutive.
//
// The cost is that of writing all changes. They stay in memory.
func New(journal Journal, compacted store.Revision, changes iter.Seq2[Change, error]) (*Store, error) {
	s := &Store{journal: journal}
	w := work{state: &state{compacted: compacted}}
	if changes != nil {
		for c, err := range changes {
			if err != nil {
				return nil, err
			}
			if err := w.load(c); err != nil {
				return nil, err
			}
			s.expiry.add(c)
		}
	}
	s.publish(w)
	return s, nil
}

// publish makes a finished state visible to readers.
//
// The new state is visible before the watches of the old one wake, so they find it. The caller holds s.writing, or is New.
func (s *Store) publish(w work) {
	w.state.next = make(chan struct{})
	if before := s.now.Swap(w.state); before != nil {
		close(before.next)
	}
}

// Get implements store.Store. Its cost is logarithmic in the number of records, once the tree of the revision exists; see past.
func (s *Store) Get(ctx context.Context, key string, at store.Revision) (store.Record, error) {
	if err := ctx.Err(); err != nil {
		return store.Record{}, err
	}
	t, _, err := s.at(at)
	if err != nil {
		return store.Record{}, err
	}
	e := find(t, key)
	if e == nil {
		return store.Record{}, store.ErrNotFound
	}
	return e.Record, nil
}

// Range implements store.Store. Its cost is linear in the returned records and logarithmic in all records, once the tree of the revision
// exists. It does not visit the remaining records.
func (s *Store) Range(ctx context.Context, r store.Range) (store.Page, error) {
	if err := ctx.Err(); err != nil {
		return store.Page{}, err
	}
	t, revision, err := s.at(r.At)
	if err != nil {
		return store.Page{}, err
	}
	records, remaining := page(t, r)
	if remaining > 0 {
		s.past.keep(revision, t) // the request for the next page needs it
	}
	return store.Page{Records: records, Revision: revision, Remaining: remaining}, nil
}

// Check implements store.Checker.
func (s *Store) Check() error {
	if err := s.kept.Load(); err != nil {
		return *err
	}
	return nil
}

// Close implements store.Store.
//
// It waits for the commit that runs. Readers that hold an earlier state finish with it; watches wake, yield what is left, and end.
func (s *Store) Close() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	// A copy of the latest state that is marked as closed.
	now := *s.now.Load()
	now.closed = true
	s.publish(work{state: &now})
	if s.journal == nil {
		return nil
	}
	return s.journal.Close()
}
