// Package etcd is a store in an etcd cluster, which several servers share: each watches what the
// others write. Compaction is left to whoever calls it, or to etcd.
package etcd

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/deed-project/deed/server/store"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Store is a store.Store in etcd. A revision is one of etcd's, so that writes of others under other
// prefixes make revisions too.
//
// Errors of etcd that are none of package store are returned as they are: API servers answer with
// their texts.
type Store struct {
	client *clientv3.Client
	kv     clientv3.KV
	watch  clientv3.Watcher
	keys   Keys
	now    func() time.Time
	leases leases
	hub    hub

	streams atomic.Int64 // of watches, as they are counted
	ordered atomic.Bool  // etcd says how far a watch is only when it is there

	closing sync.Once
	ctx     context.Context // done when the store is closed
	cancel  context.CancelFunc
}

// New returns the store in the cluster of a client, which belongs to the store from then on. The
// clock says for how long PutUntil keeps records; deleting them is etcd's business.
func New(client *clientv3.Client, keys Keys, now func() time.Time) *Store {
	s := &Store{
		client: client, kv: client.KV, watch: client.Watcher, keys: keys, now: now, leases: leases{grant: client.Lease},
		hub: hub{hurry: make(chan struct{}, 1)},
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// Get implements store.Store.
func (s *Store) Get(ctx context.Context, key string, at store.Revision) (store.Record, error) {
	if err := s.ready(ctx); err != nil {
		return store.Record{}, err
	}
	there, ok := s.keys.there(key)
	if !ok {
		_, err := s.revision(ctx, at)
		return store.Record{}, errors.Join(err, store.ErrNotFound)
	}
	r, err := s.kv.Get(ctx, there, clientv3.WithRev(int64(at)))
	if err != nil {
		return store.Record{}, s.failed(err)
	}
	if len(r.Kvs) == 0 {
		return store.Record{}, store.ErrNotFound
	}
	return s.recordOf(r.Kvs[0]), nil
}

// Range implements store.Store. What remains is counted by etcd, which costs it the number of keys
// in the range.
func (s *Store) Range(ctx context.Context, r store.Range) (store.Page, error) {
	if err := s.ready(ctx); err != nil {
		return store.Page{}, err
	}
	page := store.Page{Revision: r.At}
	prefix, ok := s.keys.prefix(r.Prefix)
	if !ok {
		return s.emptyPage(ctx, page)
	}
	from, end := prefix, clientv3.GetPrefixRangeEnd(prefix)
	if prefix == "" {
		from, end = "\x00", "\x00" // to the end of all keys
	}
	if after, ok := s.keys.there(r.After); ok && r.After >= r.Prefix {
		from = max(from, after+"\x00")
	}
	if end != "\x00" && from >= end {
		return s.emptyPage(ctx, page)
	}
	found, err := s.kv.Get(ctx, from, clientv3.WithRange(end),
		clientv3.WithRev(int64(r.At)), clientv3.WithLimit(int64(r.Limit)))
	if err != nil {
		return store.Page{}, s.failed(err)
	}
	if r.At == 0 {
		page.Revision = store.Revision(found.Header.Revision)
	}
	for _, kv := range found.Kvs {
		page.Records = append(page.Records, s.recordOf(kv))
	}
	page.Remaining = int(found.Count) - len(found.Kvs)
	return page, nil
}

// emptyPage returns a page of a range that no key can be in, at a revision that etcd has.
func (s *Store) emptyPage(ctx context.Context, page store.Page) (store.Page, error) {
	latest, err := s.revision(ctx, page.Revision)
	if page.Revision == 0 {
		page.Revision = latest
	}
	return page, err
}

// revision returns the latest revision, or why nothing can be read at another one. It asks for a key that is not there, among those
// of the store: a user may be allowed no others.
func (s *Store) revision(ctx context.Context, at store.Revision) (store.Revision, error) {
	r, err := s.kv.Get(ctx, s.keys.There+"\x00", clientv3.WithRev(int64(at)), clientv3.WithCountOnly())
	if err != nil {
		return 0, s.failed(err)
	}
	return store.Revision(r.Header.Revision), nil
}

// Compact implements store.Store.
func (s *Store) Compact(ctx context.Context, to store.Revision) error {
	if err := s.ready(ctx); err != nil {
		return err
	}
	_, err := s.client.Compact(ctx, int64(to))
	if err = s.failed(err); err != nil && !errors.Is(err, store.ErrCompacted) {
		return err
	}
	s.hub.forget(to)
	return nil
}

// Expire does nothing: etcd watches the time by itself.
func (s *Store) Expire(ctx context.Context, _ time.Time) error { return s.ready(ctx) }

// Close implements store.Store.
func (s *Store) Close() error {
	var err error
	s.closing.Do(func() {
		s.cancel()
		s.hub.wait.Wait()
		// A client of an etcd in the same process says by this that it is closed.
		if err = s.client.Close(); errors.Is(err, context.Canceled) {
			err = nil
		}
	})
	return err
}

// ready returns why a call need not begin.
func (s *Store) ready(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.ctx.Err() != nil {
		return store.ErrClosed
	}
	return nil
}

// failed returns an error of etcd as one of the store.
func (s *Store) failed(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, rpctypes.ErrCompacted):
		return store.ErrCompacted
	case errors.Is(err, rpctypes.ErrFutureRev):
		return store.ErrFuture
	case s.ctx.Err() != nil:
		return store.ErrClosed
	}
	return &fault{err}
}

// fault is an error of etcd, whose text may be logged: it holds no record.
type fault struct{ error }

// LogText returns the text.
func (f *fault) LogText() string { return f.Error() }

// Unwrap returns the error of etcd's client.
func (f *fault) Unwrap() error { return f.error }
