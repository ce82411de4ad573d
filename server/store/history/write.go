package history

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/deed-project/deed/server/store"
)

// Writes. A commit to the journal may wait for the disk, so writes that come meanwhile are collected and committed together. With many
// clients, the number of commits grows with time and not with writes.

// write is a write whose caller waits.
//
// The fields of Change that only the store knows, its revisions, are filled in by the commit.
type write struct {
	Change
	expect store.Revision
	always bool // ignore the expected revision: for deletions

	// Outcome; guarded by Store.writing.
	done     bool
	revision store.Revision
	err      error
}

// Put implements store.Store.
func (s *Store) Put(ctx context.Context, key string, text []byte, expect store.Revision) (store.Revision, error) {
	return s.PutUntil(ctx, key, text, expect, time.Time{})
}

// PutUntil implements store.Store.
func (s *Store) PutUntil(
	ctx context.Context, key string, text []byte, expect store.Revision, until time.Time,
) (store.Revision, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	// A text that is nil would look like none in Event.Previous.
	if text == nil {
		text = []byte{}
	}
	return s.write(&write{Change: Change{Record: store.Record{Key: key, Text: text}, Until: until}, expect: expect})
}

// Delete implements store.Store.
func (s *Store) Delete(ctx context.Context, key string, expect store.Revision) (store.Revision, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	return s.write(&write{Change: Change{Record: store.Record{Key: key}, Deleted: true}, expect: expect, always: expect == 0})
}

// write commits w together with all writes that wait, unless another caller has committed w by then.
//
//	A  commits ──────────┐
//	B       waits        └ commits B, C and D ─┐
//	C         waits                            └ done already
//	D             waits                          └ done already
//
// The write is enqueued before the lock is taken. So the next holder of the lock finds it in waiting, or it is done.
func (s *Store) write(w *write) (store.Revision, error) {
	s.mu.Lock()
	s.waiting = append(s.waiting, w)
	s.mu.Unlock()

	s.writing.Lock()
	defer s.writing.Unlock()
	if !w.done {
		s.mu.Lock()
		writes := s.waiting
		s.waiting = nil
		s.mu.Unlock()
		s.commit(writes)
	}
	return w.revision, w.err
}

// commit carries out writes in order: each sees the outcome of the earlier ones. Readers see all of them or none. The caller holds
// s.writing.
//
// If the journal fails, no write of the commit happened: the new state is dropped, and all callers get the error. A failed check concerns
// its write alone.
func (s *Store) commit(writes []*write) {
	before := s.now.Load()
	// The copy shares slices with the state before it; see work.
	next := *before
	w := work{state: &next}
	var changes []Change
	for _, one := range writes {
		one.done = true
		current := find(w.state.tree, one.Key)
		one.err = one.check(current)
		// Closing may have happened while the writes waited.
		if s.closed {
			one.err = store.ErrClosed
		}
		if one.err == nil {
			one.revision = w.apply(&one.Change, current)
			changes = append(changes, one.Change)
		}
	}
	if len(changes) == 0 {
		return
	}
	if s.journal != nil {
		err := s.journal.Commit(changes)
		s.kept.Store(&err)
		if err != nil {
			for _, one := range writes {
				if one.err == nil {
					// Writes with an error of their own keep it. That error is true of a state that never came to be, but the write would
					// be refused or tried again in either case.
					one.revision, one.err = 0, err
				}
			}
			return
		}
	}
	// Only persistent changes get into the heap.
	for _, c := range changes {
		s.expiry.add(c)
	}
	s.publish(w)
}

// Compact implements store.Store. Its cost grows with the number of revisions that stay.
//
// The journal forgets first. If the process ends in between, the history is shorter after the restart, and no record is lost. Marks and
// versions are copied, so that the old slices, which the texts hang on, can be freed.
func (s *Store) Compact(ctx context.Context, to store.Revision) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	now := s.now.Load()
	switch {
	case s.closed:
		return store.ErrClosed
	case to > now.latest():
		return store.ErrFuture
	case to <= now.compacted:
		return nil
	}
	if s.journal != nil {
		if err := s.journal.Compact(to, now.superseded(to)); err != nil {
			return err
		}
	}
	s.publish(work{state: now.since(to)})
	s.past.forget(to)
	return nil
}

// since returns s without the history before a revision.
//
// It leaves room for more versions, because a compaction is usually followed by writes.
func (s *state) since(to store.Revision) *state {
	kept := s.after(to, s.latest())
	after := &state{versions: append(make([]version, 0, len(kept)+len(kept)/4), kept...), compacted: to, tree: s.tree}
	for _, v := range kept {
		after.past += v.replaced()
	}
	// The marks before the new first one are dropped. If all are, none is left.
	if gone := int((after.firstMark() - s.firstMark()) / stride); gone < len(s.marks) {
		after.marks = slices.Clone(s.marks[gone:])
	}
	return after
}

// work is a state under construction.
//
// It appends versions and marks to slices that it shares with earlier states. That is safe, because those states do not read beyond their
// own lengths, and the holder of Store.writing always starts from the latest state.
type work struct{ state *state }

// check returns why a write conflicts with the stored record, or nil.
//
//	                 no record     revision r
//	put, expect 0    ok            conflict
//	put, expect r    conflict      ok; another revision is a conflict
//	delete           not found     ok with expect 0 or r
func (w *write) check(current *entry) error {
	switch {
	case w.Deleted && current == nil:
		return store.ErrNotFound
	case w.always:
		return nil
	case current == nil && w.expect == 0:
		return nil
	case current == nil:
		return &store.ConflictError{Expected: w.expect}
	case current.Revision != w.expect:
		return &store.ConflictError{Expected: w.expect, Current: current.Record}
	}
	return nil
}

// apply makes a change the next revision and fills in its revisions.
func (w work) apply(c *Change, current *entry) store.Revision {
	c.Revision = w.state.latest() + 1
	c.Created = c.Revision
	if current != nil {
		c.Created = current.Created
	}
	w.append(versionOf(*c, current))
	return c.Revision
}

// versionOf returns the version of a complete change.
//
// current is the record before the change.
func versionOf(c Change, current *entry) version {
	if current != nil {
		c.Key = current.Key // so that memory holds the key once
	}
	return version{&entry{c.Record, c.Until}, current, c.Deleted}
}

// append makes v the next revision.
func (w work) append(v version) {
	w.state.versions = append(w.state.versions, v)
	w.state.tree = v.do(w.state.tree)
	w.state.past += v.replaced()
	if w.state.latest()%stride == 0 {
		w.state.marks = append(w.state.marks, w.state.tree)
	}
}

// do returns the tree after v, given the tree before v.
func (v version) do(t tree) tree {
	switch {
	case !v.deleted:
		return put(t, v.entry)
	case v.before != nil:
		return remove(t, v.entry.Key)
	}
	return t
}

// load takes over a change of the journal. A change up to the compacted revision is one of the records that were stored then.
//
// Changes after it must be without a gap: one that is missing would be an event that a watch does not get.
func (w work) load(c Change) error {
	v := versionOf(c, find(w.state.tree, c.Key))
	if c.Revision <= w.state.compacted {
		w.state.tree = v.do(w.state.tree)
		return nil
	}
	if next := w.state.latest() + 1; c.Revision != next {
		return fmt.Errorf("store: revision %d follows where %d should", c.Revision, next)
	}
	w.append(v)
	return nil
}

// superseded returns the revisions of changes up to a revision that do not affect the records at that revision: changes of records that
// were rewritten or deleted, and the deletions.
//
// A journal may drop exactly those: what is left makes the records at the revision.
func (s *state) superseded(to store.Revision) []store.Revision {
	var revisions []store.Revision
	for _, v := range s.after(s.compacted, to) {
		if v.before != nil {
			revisions = append(revisions, v.before.Revision)
		}
		if v.deleted {
			revisions = append(revisions, v.entry.Revision)
		}
	}
	return revisions
}
