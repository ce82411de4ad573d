package etcd

import (
	"context"
	"errors"
	"iter"
	"strings"
	"time"

	"github.com/deed-project/deed/server/store"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Watches of the store: positions in the events of the hub; see hub.go. A position may fall behind, for the hub keeps a bounded number:
//
//	after < from      catchUp: a watch of etcd, until the hub has the next events
//	from <= after     the events of the hub

// progress is the interval of progress requests on a watch without events.
const progress = 100 * time.Millisecond

// errEnded is the error of a watch that etcd's client ended without a reason.
var errEnded = errors.New("store: etcd: the watch was ended")

// Since implements store.Store with the events that the hub keeps. It asks etcd for the latest revision, and waits until the hub has
// reached it, which takes as long as an event does. The error is errors.ErrUnsupported if etcd is too old for progress requests. It is a
// *CompactedError also if only the hub has dropped the events.
//
// A caller that gets a CompactedError reads all records anew, so it does not matter which of the two dropped the events.
func (s *Store) Since(ctx context.Context, prefix string, after store.Revision) (store.Batch, error) {
	if err := s.ready(ctx); err != nil {
		return store.Batch{}, err
	}
	if err := s.begin(ctx); err != nil {
		return store.Batch{}, err
	}
	if !s.ordered.Load() {
		return store.Batch{}, errors.ErrUnsupported
	}
	latest, err := s.revision(ctx, 0)
	switch {
	case err != nil:
		return store.Batch{}, err
	case after > latest:
		return store.Batch{}, store.ErrFuture
	}
	now, err := s.heard(ctx, latest)
	switch {
	case err != nil:
		return store.Batch{}, err
	case after < now.from:
		return store.Batch{}, &store.CompactedError{Oldest: now.from}
	}
	return now.after(after, prefix), nil
}

// heard returns the state of the hub once the hub has reached a revision.
//
// It returns the error of the context or ErrClosed if that comes first.
func (s *Store) heard(ctx context.Context, of store.Revision) (*recent, error) {
	for {
		now := s.hub.now.Load()
		if now.latest >= of {
			return now, nil
		}
		select {
		case s.hub.hurry <- struct{}{}: // the revision may belong to a key under another prefix, for which no event comes
		default:
		}
		select {
		case <-now.next:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-s.ctx.Done():
			return nil, store.ErrClosed
		}
	}
}

// Watch implements store.Store. A watch that keeps up reads the events of the hub. A watch that is behind the hub reads from etcd until it
// has caught up.
//
// The error of a compacted revision must come before the sequence. So a position behind the hub is checked by a read.
func (s *Store) Watch(ctx context.Context, prefix string, after store.Revision) (iter.Seq2[store.Batch, error], error) {
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	if after > 0 && after < s.hub.now.Load().from {
		// etcd would only return this error once the watch begins.
		switch _, err := s.revision(ctx, after); {
		case errors.Is(err, store.ErrCompacted):
			return nil, s.compacted(ctx, prefix, after)
		case err != nil:
			return nil, err
		}
	}
	return func(yield func(store.Batch, error) bool) { s.run(ctx, prefix, after, yield) }, nil
}

// compacted returns the error of a watch from a compacted revision. etcd names the revision up to which it has compacted only to a watch.
//
// A watch after a revision begins at the next one. If etcd accepts it, the next one is the oldest.
func (s *Store) compacted(ctx context.Context, prefix string, after store.Revision) error {
	err := s.follow(ctx, prefix, after, nil, func(store.Batch) bool { return false })
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = &store.CompactedError{Oldest: after + 1}
	}
	return err
}

// run yields batches until ctx is done, the reader stops, or the store is closed.
//
// Invariant: all events up to after have been yielded.
//
// It loads the state anew at each step, and holds no state while the reader has a batch.
func (s *Store) run(ctx context.Context, prefix string, after store.Revision, yield func(store.Batch, error) bool) {
	for {
		now := s.hub.now.Load()
		switch {
		case ctx.Err() != nil:
			return
		case s.ctx.Err() != nil:
			yield(store.Batch{}, store.ErrClosed)
			return
		// The hub has dropped events that the watch has not seen.
		case after < now.from:
			var on bool
			if after, on = s.catchUp(ctx, prefix, after, yield); !on {
				return
			}
			continue
		case after < now.latest:
			batch := now.after(after, prefix)
			if !yield(batch, nil) {
				return
			}
			after = batch.Revision
			continue
		}
		select {
		case <-now.next:
		case <-ctx.Done():
		case <-s.ctx.Done():
		}
	}
}

// catchUp yields batches from etcd until the hub has the next events. It returns the revision that it reached, and whether to go on.
func (s *Store) catchUp(
	ctx context.Context, prefix string, after store.Revision, yield func(store.Batch, error) bool,
) (store.Revision, bool) {
	on := true
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	err := s.follow(watching, prefix, after, nil, func(b store.Batch) bool {
		on, after = yield(b, nil), b.Revision
		// Go on only as long as the hub has not got the next events.
		return on && after < s.hub.now.Load().from
	})
	switch {
	case err == nil || s.ctx.Err() != nil:
	case errors.Is(err, rpctypes.ErrNoLeader):
		s.pause(ctx) // the hub begins anew in a moment
	default:
		yield(store.Batch{}, err)
		on = false
	}
	return after, on
}

// read returns the batch of a response. The revision in its header is the progress of the watch only if the response has no events.
// Otherwise older events may follow.
//
// All events of one transaction have the same revision. etcd sends them in one response, so a batch never ends within a revision.
func (s *Store) read(ctx context.Context, r clientv3.WatchResponse, open bool) (store.Batch, error) {
	if r.CompactRevision > 0 {
		return store.Batch{}, &store.CompactedError{Oldest: store.Revision(r.CompactRevision)}
	}
	if err := r.Err(); err != nil {
		return store.Batch{}, s.failed(err)
	}
	if !open {
		if err := s.ready(ctx); err != nil {
			return store.Batch{}, err
		}
		return store.Batch{}, errEnded
	}
	var batch store.Batch
	if r.IsProgressNotify() {
		batch.Revision = store.Revision(r.Header.Revision)
	}
	for _, e := range r.Events {
		batch.Events = append(batch.Events, s.eventOf(e))
		batch.Revision = store.Revision(e.Kv.ModRevision)
	}
	return batch, nil
}

// eventOf returns an event of etcd as one of the store. An event of a deletion has only the key and a revision, so the rest comes from the
// record before.
func (s *Store) eventOf(e *clientv3.Event) store.Event {
	var previous []byte
	if e.PrevKv != nil {
		previous = s.recordOf(e.PrevKv).Text
	}
	if e.Type == clientv3.EventTypeDelete {
		gone := store.Record{Key: s.keys.here(string(e.Kv.Key)), Revision: store.Revision(e.Kv.ModRevision)}
		if e.PrevKv != nil {
			gone.Created = store.Revision(e.PrevKv.CreateRevision)
		}
		return store.Event{Record: gone, Deleted: true, Previous: previous}
	}
	return store.Event{Record: s.recordOf(e.Kv), Previous: previous}
}

// selected returns the events on keys that begin with prefix.
func selected(events []store.Event, prefix string) []store.Event {
	var out []store.Event
	for _, e := range events {
		if strings.HasPrefix(e.Key, prefix) {
			out = append(out, e)
		}
	}
	return out
}
