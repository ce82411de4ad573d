package etcd

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/deed-project/deed/server/store"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// progress is how often a watch that hears nothing asks how far it is.
const progress = 100 * time.Millisecond

// Watch implements store.Store.
func (s *Store) Watch(ctx context.Context, prefix string, after store.Revision) (iter.Seq2[store.Batch, error], error) {
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	if after > 0 {
		// Etcd would say so only when it begins to watch.
		switch latest, err := s.revision(ctx, after); {
		case errors.Is(err, store.ErrCompacted):
			return nil, &store.CompactedError{Oldest: latest}
		case err != nil && !errors.Is(err, store.ErrFuture):
			return nil, err
		}
	}
	return func(yield func(store.Batch, error) bool) { s.follow(ctx, prefix, after, yield) }, nil
}

// follow yields batches until ctx is done, the reader stops, or etcd ends the watch.
func (s *Store) follow(ctx context.Context, prefix string, after store.Revision, yield func(store.Batch, error) bool) {
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	defer cancel()
	options := []clientv3.OpOption{clientv3.WithRev(int64(after) + 1), clientv3.WithPrevKV(), clientv3.WithPrefix()}
	responses := s.watch.Watch(ctx, prefix, options...)
	for {
		select {
		case r, open := <-responses:
			batch, err := s.read(ctx, r, open)
			switch {
			case ctx.Err() != nil:
				return
			case err != nil:
				yield(store.Batch{}, err)
				return
			case batch.Revision <= after: // it began, or says again how far it is
				continue
			case !yield(batch, nil):
				return
			}
			after = batch.Revision
		case <-time.After(progress):
			// If this fails the watch fails too, or comes back by itself.
			_ = s.watch.RequestProgress(ctx)
		case <-s.closed:
			yield(store.Batch{}, store.ErrClosed)
			return
		}
	}
}

// read returns what a response says. The revision of its header is how far the watch is only if it
// has no events: otherwise more may follow that is older.
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
		return store.Batch{}, s.failed(context.Canceled)
	}
	var batch store.Batch
	if r.IsProgressNotify() {
		batch.Revision = store.Revision(r.Header.Revision)
	}
	for _, e := range r.Events {
		batch.Events = append(batch.Events, eventOf(e))
		batch.Revision = store.Revision(e.Kv.ModRevision)
	}
	return batch, nil
}

func eventOf(e *clientv3.Event) store.Event {
	var previous []byte
	if e.PrevKv != nil {
		previous = recordOf(e.PrevKv).Text
	}
	if e.Type == clientv3.EventTypeDelete {
		gone := store.Record{Key: string(e.Kv.Key), Revision: store.Revision(e.Kv.ModRevision)}
		if e.PrevKv != nil {
			gone.Created = store.Revision(e.PrevKv.CreateRevision)
		}
		return store.Event{Record: gone, Deleted: true, Previous: previous}
	}
	return store.Event{Record: recordOf(e.Kv), Previous: previous}
}
