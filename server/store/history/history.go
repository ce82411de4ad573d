// Package history keeps records with their history in memory, and has a journal keep them elsewhere
// too. It is what package memory and package file have in common.
//
// Its nouns are the [Store], and the [Journal], which a Store tells of every [Change] before
// anybody else learns of it.
package history

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/deed-project/deed/server/store"
)

// Change is one write, as a journal keeps it: what was put under a key, or that its record was deleted.
type Change struct {
	store.Record // without a text if it is a deletion
	Deleted      bool
	Until        time.Time // when the record is over; zero for never
}

// Journal keeps changes. Its methods are called by one goroutine at a time.
type Journal interface {
	// Commit keeps all of changes or none. Their revisions follow on those of earlier changes.
	Commit(changes []Change) error

	// Compact forgets changes, given by their revisions: those up to a revision that say nothing
	// about what is stored at that revision and later. Later on, New is told of that revision.
	Compact(to store.Revision, forget []store.Revision) error

	// Close is called last.
	Close() error
}

// Store is a store.Store in memory. Reads and watches take no lock and never wait for writes.
// Writes that come while others are being committed wait and are committed together.
type Store struct {
	journal Journal // nil for none
	now     atomic.Pointer[state]

	mu      sync.Mutex // guards waiting
	waiting []*write

	writing sync.Mutex // is held by who commits; guards what follows
	expiry  expiry
	closed  bool
}

// entry is a record in a tree.
type entry struct {
	store.Record
	until time.Time
}

// version is the state of the store at one revision, and the event that led to it.
type version struct {
	event store.Event
	tree  tree
}

// state is what readers see. It never changes, except that next is closed when another takes its place.
type state struct {
	// Invariant: versions[i] is of revision compacted + i; the last is the latest. The event of
	// versions[0] is none.
	versions  []version
	compacted store.Revision
	closed    bool
	next      chan struct{}
}

func (s *state) latest() store.Revision { return s.compacted + store.Revision(len(s.versions)-1) }

// at returns the records at a revision, and which it is.
func (s *state) at(r store.Revision) (tree, store.Revision, error) {
	if r == 0 {
		r = s.latest()
	}
	switch {
	case s.closed:
		return nil, 0, store.ErrClosed
	case r < s.compacted:
		return nil, 0, store.ErrCompacted
	case r > s.latest():
		return nil, 0, store.ErrFuture
	}
	return s.versions[r-s.compacted].tree, r, nil
}

// New returns a store whose journal kept changes, in the order of their revisions, and was
// compacted to a revision: 1 for a journal that never was. A nil journal is none. The error is the
// first of changes, or about revisions that do not follow on each other.
//
// Its cost is that of writing the changes. Memory holds all of them from then on.
func New(journal Journal, compacted store.Revision, changes iter.Seq2[Change, error]) (*Store, error) {
	s := &Store{journal: journal}
	w := work{state: &state{versions: []version{{}}, compacted: compacted}}
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

// publish shows readers what was worked out.
func (s *Store) publish(w work) {
	w.state.next = make(chan struct{})
	if before := s.now.Swap(w.state); before != nil {
		close(before.next)
	}
}

// Get implements store.Store. It costs the logarithm of the number of records.
func (s *Store) Get(ctx context.Context, key string, at store.Revision) (store.Record, error) {
	if err := ctx.Err(); err != nil {
		return store.Record{}, err
	}
	t, _, err := s.now.Load().at(at)
	if err != nil {
		return store.Record{}, err
	}
	e := find(t, key)
	if e == nil {
		return store.Record{}, store.ErrNotFound
	}
	return e.Record, nil
}

// Range implements store.Store. It costs the number of records that it returns and the logarithm of
// that of all; those that remain are not visited.
func (s *Store) Range(ctx context.Context, r store.Range) (store.Page, error) {
	if err := ctx.Err(); err != nil {
		return store.Page{}, err
	}
	t, revision, err := s.now.Load().at(r.At)
	if err != nil {
		return store.Page{}, err
	}
	records, remaining := page(t, r)
	return store.Page{Records: records, Revision: revision, Remaining: remaining}, nil
}

// Close implements store.Store.
func (s *Store) Close() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	now := *s.now.Load()
	now.closed = true
	s.publish(work{state: &now})
	if s.journal == nil {
		return nil
	}
	return s.journal.Close()
}
