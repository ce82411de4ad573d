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

// Store is a store.Store in memory. Reads and watches never wait for writes, and take no lock unless
// they read the past. Writes that come while others are being committed wait and are committed
// together.
type Store struct {
	journal Journal // nil for none
	now     atomic.Pointer[state]
	past    past
	kept    atomic.Pointer[error] // of the last commit

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

// version is what the write of one revision did.
type version struct {
	entry   *entry // that was put; of a deletion the key and revisions, without a text
	before  *entry // that was stored before; nil if nothing was
	deleted bool
}

// event returns what watches are told of v.
func (v version) event() store.Event {
	e := store.Event{Record: v.entry.Record, Deleted: v.deleted}
	if v.before != nil {
		e.Previous = v.before.Text
	}
	return e
}

// state is what readers see. It never changes, except that next is closed when another takes its place.
type state struct {
	// Invariant: versions[i] is of revision compacted + 1 + i, and tree is of the latest one.
	versions  []version
	compacted store.Revision
	tree      tree
	past      int64  // bytes of the texts that versions replaced or deleted
	marks     []tree // the trees of every stride-th revision from firstMark on: see past
	closed    bool
	next      chan struct{}
}

func (s *state) latest() store.Revision { return s.compacted + store.Revision(len(s.versions)) }

// after returns the versions after a revision up to another one.
func (s *state) after(from, to store.Revision) []version {
	return s.versions[from-s.compacted : to-s.compacted]
}

// New returns a store whose journal kept changes, in the order of their revisions, and was
// compacted to a revision: 1 for a journal that never was. A nil journal is none. The error is the
// first of changes, or about revisions that do not follow on each other.
//
// Its cost is that of writing the changes. Memory holds all of them from then on.
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

// publish shows readers what was worked out.
func (s *Store) publish(w work) {
	w.state.next = make(chan struct{})
	if before := s.now.Swap(w.state); before != nil {
		close(before.next)
	}
}

// Get implements store.Store. It costs the logarithm of the number of records, once the tree of the
// revision is there: see past.
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

// Range implements store.Store. It costs the number of records that it returns and the logarithm of
// that of all, once the tree of the revision is there; those that remain are not visited.
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
		s.past.keep(revision, t) // who reads the next page will ask for it
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
