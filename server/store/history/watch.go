package history

import (
	"context"
	"iter"
	"strings"

	"github.com/deed-project/deed/server/store"
)

// Watches as positions in the history:
//
//	versions   2 3 4 5 6 7 8         the state has a slice of them
//	watch          ^                 after 3: yields 4 to 8 as one batch, and waits for the next state

// maxBatch bounds the revisions of a batch, so that a watch from long ago needs little memory.
const maxBatch = 512

// Watch implements store.Store. A watch is a position in the history and has no queue, so unread events cost nothing. A slow reader delays
// no one else. If it falls too far behind, it gets ErrCompacted. The cost is one prefix comparison per revision.
//
// The checks are made at once, so that the caller gets the error before it begins to iterate; follow makes them again.
func (s *Store) Watch(ctx context.Context, prefix string, after store.Revision) (iter.Seq2[store.Batch, error], error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	switch now := s.now.Load(); {
	case now.closed:
		return nil, store.ErrClosed
	case after < now.compacted && !isAll(now, after):
		return nil, &store.CompactedError{Oldest: now.compacted}
	}
	return func(yield func(store.Batch, error) bool) { s.follow(ctx, prefix, after, yield) }, nil
}

// Since implements store.Store. The cost is one prefix comparison per revision.
//
// The state is complete up to its latest revision, so the answer is, too.
func (s *Store) Since(ctx context.Context, prefix string, after store.Revision) (store.Batch, error) {
	if err := ctx.Err(); err != nil {
		return store.Batch{}, err
	}
	now := s.now.Load()
	if isAll(now, after) {
		after = max(after, now.compacted)
	}
	switch {
	case now.closed:
		return store.Batch{}, store.ErrClosed
	case after < now.compacted:
		return store.Batch{}, &store.CompactedError{Oldest: now.compacted}
	case after > now.latest():
		return store.Batch{}, store.ErrFuture
	}
	return now.batch(prefix, after, now.latest()), nil
}

// isAll reports whether a watch from before the first revision misses no event, because nothing is compacted yet.
//
// The first revision of a store is 1 and has no event, so revision 0 counts as 1.
func isAll(now *state, after store.Revision) bool { return after >= 0 && now.compacted == 1 }

// follow yields batches until ctx is done or the reader stops.
//
// Invariant: all events up to after have been yielded.
//
// A batch is yielded even if no event in it has the prefix: the reader learns how far the store is. The watch holds the state that it waits
// on, and no other.
func (s *Store) follow(ctx context.Context, prefix string, after store.Revision, yield func(store.Batch, error) bool) {
	for {
		now := s.now.Load()
		if isAll(now, after) {
			after = max(after, now.compacted)
		}
		switch {
		case ctx.Err() != nil:
			return
		case after < now.compacted:
			yield(store.Batch{}, &store.CompactedError{Oldest: now.compacted})
			return
		// Events come before the error of a closed store, so a reader gets all writes that succeeded.
		case after < now.latest():
			batch := now.batch(prefix, after, min(now.latest(), after+maxBatch))
			if !yield(batch, nil) {
				return
			}
			after = batch.Revision
			continue
		case now.closed:
			yield(store.Batch{}, store.ErrClosed)
			return
		}
		select {
		case <-now.next:
		case <-ctx.Done():
			return
		}
	}
}

// batch returns the events after one revision up to another.
//
// The events share their texts with the history.
func (s *state) batch(prefix string, after, to store.Revision) store.Batch {
	var events []store.Event
	for _, v := range s.after(after, to) {
		if strings.HasPrefix(v.entry.Key, prefix) {
			events = append(events, v.event())
		}
	}
	return store.Batch{Events: events, Revision: to}
}
