package history

import (
	"context"
	"fmt"
	"time"

	"github.com/deed-project/deed/server/store"
)

// write is a write that somebody waits for.
type write struct {
	Change
	expect store.Revision
	always bool // whatever is stored: for deletions

	// The outcome; guarded by Store.writing.
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

// write commits w together with all writes that wait by then, unless somebody else has done so
// meanwhile.
//
//	A  commits ──────────┐
//	B       waits        └ commits B, C and D ─┐
//	C         waits                            └ done already
//	D             waits                          └ done already
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

// commit carries out writes in their order: each on what the earlier ones made of the store.
// Readers see all of them or none. The caller holds s.writing.
func (s *Store) commit(writes []*write) {
	before := s.now.Load()
	next := *before
	w := work{state: &next}
	var changes []Change
	for _, one := range writes {
		one.done = true
		one.err = w.check(one)
		if s.closed {
			one.err = store.ErrClosed
		}
		if one.err == nil {
			one.revision = w.apply(&one.Change)
			changes = append(changes, one.Change)
		}
	}
	if len(changes) == 0 {
		return
	}
	if s.journal != nil {
		if err := s.journal.Commit(changes); err != nil {
			for _, one := range writes {
				if one.err == nil {
					one.revision, one.err = 0, err
				}
			}
			return
		}
	}
	for _, c := range changes {
		s.expiry.add(c)
	}
	s.publish(w)
}

// Compact implements store.Store. It costs the number of revisions that stay.
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
	kept := now.versions[to-now.compacted:]
	versions := append(make([]version, 0, len(kept)+len(kept)/4), kept...)
	versions[0].event = store.Event{}
	s.publish(work{state: &state{versions: versions, compacted: to}})
	return nil
}

// work is a state in the making.
//
// Versions are appended to the slice that earlier states have in common. They do not see what lies
// beyond its end; and there is one maker at a time, who starts from the latest state.
type work struct{ state *state }

func (w work) tree() tree { return w.state.versions[len(w.state.versions)-1].tree }

// check returns why a write cannot be made.
func (w work) check(one *write) error {
	current := find(w.tree(), one.Key)
	switch {
	case one.Deleted && current == nil:
		return store.ErrNotFound
	case one.always:
		return nil
	case current == nil && one.expect == 0:
		return nil
	case current == nil:
		return &store.ConflictError{Expected: one.expect}
	case current.Revision != one.expect:
		return &store.ConflictError{Expected: one.expect, Current: current.Record}
	}
	return nil
}

// apply makes a change the next revision, and completes it.
func (w work) apply(c *Change) store.Revision {
	c.Revision = w.state.latest() + 1
	c.Created = c.Revision
	if current := find(w.tree(), c.Key); current != nil {
		c.Created = current.Created
	}
	w.append(*c)
	return c.Revision
}

// append makes a complete change the next revision.
func (w work) append(c Change) {
	event := store.Event{Record: c.Record, Deleted: c.Deleted}
	if current := find(w.tree(), c.Key); current != nil {
		event.Previous = current.Text
	}
	w.state.versions = append(w.state.versions, version{event, changed(w.tree(), c)})
}

func changed(t tree, c Change) tree {
	switch {
	case !c.Deleted:
		return put(t, &entry{c.Record, c.Until})
	case find(t, c.Key) != nil:
		return remove(t, c.Key)
	}
	return t
}

// load takes over a change that a journal kept. Those up to the compacted revision are about what
// is stored then.
func (w work) load(c Change) error {
	if c.Revision <= w.state.compacted {
		w.state.versions[0].tree = changed(w.tree(), c)
		return nil
	}
	if next := w.state.latest() + 1; c.Revision != next {
		return fmt.Errorf("store: revision %d follows where %d should", c.Revision, next)
	}
	w.append(c)
	return nil
}

// superseded returns the revisions of the changes up to a revision that say nothing about what is
// stored then: those of records that were written again or deleted, and the deletions.
func (s *state) superseded(to store.Revision) []store.Revision {
	var revisions []store.Revision
	for i, v := range s.versions[1 : to-s.compacted+1] {
		if before := find(s.versions[i].tree, v.event.Key); before != nil {
			revisions = append(revisions, before.Revision)
		}
		if v.event.Deleted {
			revisions = append(revisions, v.event.Revision)
		}
	}
	return revisions
}
