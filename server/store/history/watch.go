package history

import (
	"context"
	"iter"
	"strings"

	"github.com/deed-project/deed/server/store"
)

// maxBatch is how many revisions a batch covers, so that a watch from long ago needs no memory for
// all of it.
const maxBatch = 512

// Watch implements store.Store. A watch has no queue: it is a place in the history, and what it has
// not read yet costs nothing. So a slow reader holds nobody up, and is told by ErrCompacted when it
// is too slow. Each revision costs the comparison of a prefix.
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

// Since implements store.Store. Each revision costs the comparison of a prefix.
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

// isAll reports whether a watch after a revision before the first one misses nothing, because
// nothing is compacted yet.
func isAll(now *state, after store.Revision) bool { return after >= 0 && now.compacted == 1 }

// follow yields batches until ctx is done or the reader stops.
//
// Invariant: the events up to after were yielded.
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

// batch returns the events after a revision up to another one.
func (s *state) batch(prefix string, after, to store.Revision) store.Batch {
	var events []store.Event
	for _, v := range s.after(after, to) {
		if strings.HasPrefix(v.entry.Key, prefix) {
			events = append(events, v.event())
		}
	}
	return store.Batch{Events: events, Revision: to}
}
