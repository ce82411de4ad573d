package metrics

import (
	"context"
	"iter"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/deed-project/deed/server/store"
)

// Store returns s with its operations counted. The result is a [store.Sized] if s is one.
func (m *Metrics) Store(s store.Store) store.Store {
	counted := countedStore{s, m}
	if sized, ok := s.(store.Sized); ok {
		return countedSized{counted, sized}
	}
	return counted
}

// countedSized is a countedStore whose history takes memory: store.Sized.
type countedSized struct {
	countedStore
	sized store.Sized
}

// PastBytes returns the bytes of the history.
func (s countedSized) PastBytes() int64 { return s.sized.PastBytes() }

// Within returns the first revision after which at most the given number of bytes were replaced or deleted.
func (s countedSized) Within(bytes int64) store.Revision { return s.sized.Within(bytes) }

// countedStore counts the operations of a store: store.Store.
type countedStore struct {
	store.Store
	*Metrics
}

// asked is an operation of a store, and whether it failed.
type asked struct {
	operation string
	failed    bool
}

// count counts an operation.
func (s countedStore) count(operation string, err error) {
	is := asked{operation, err != nil}
	s.asked.get(is, func() prometheus.Counter {
		return s.operations.WithLabelValues(is.operation, strconv.FormatBool(is.failed))
	}).Inc()
}

// Get reads a record.
func (s countedStore) Get(ctx context.Context, key string, at store.Revision) (store.Record, error) {
	r, err := s.Store.Get(ctx, key, at)
	s.count("get", err)
	return r, err
}

// Range reads a page of records.
func (s countedStore) Range(ctx context.Context, r store.Range) (store.Page, error) {
	page, err := s.Store.Range(ctx, r)
	s.count("range", err)
	return page, err
}

// Put writes a record.
func (s countedStore) Put(ctx context.Context, key string, text []byte, expect store.Revision) (store.Revision, error) {
	revision, err := s.Store.Put(ctx, key, text, expect)
	s.count("put", err)
	return revision, err
}

// PutUntil writes a record that is deleted after a time.
func (s countedStore) PutUntil(
	ctx context.Context, key string, text []byte, expect store.Revision, until time.Time,
) (store.Revision, error) {
	revision, err := s.Store.PutUntil(ctx, key, text, expect, until)
	s.count("put", err)
	return revision, err
}

// Delete deletes a record.
func (s countedStore) Delete(ctx context.Context, key string, expect store.Revision) (store.Revision, error) {
	revision, err := s.Store.Delete(ctx, key, expect)
	s.count("delete", err)
	return revision, err
}

// Since reads what happened.
func (s countedStore) Since(ctx context.Context, prefix string, after store.Revision) (store.Batch, error) {
	batch, err := s.Store.Since(ctx, prefix, after)
	s.count("since", err)
	return batch, err
}

// Watch follows the changes of records.
//
// A watch counts as under way while its sequence is read.
func (s countedStore) Watch(ctx context.Context, prefix string, from store.Revision) (iter.Seq2[store.Batch, error], error) {
	batches, err := s.Store.Watch(ctx, prefix, from)
	s.count("watch", err)
	if err != nil {
		return nil, err
	}
	return func(yield func(store.Batch, error) bool) {
		s.storeWatchs.Inc()
		defer s.storeWatchs.Dec()
		batches(yield)
	}, nil
}
