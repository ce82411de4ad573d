// Package etcd is a store in an etcd cluster, which several servers can share: each watches the writes of the others. The package does not
// compact; its caller or etcd does.
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

// Store implements store.Store in etcd. Its revisions are etcd's, so that writes under other prefixes also make revisions.
//
// Errors of etcd outside of the contract are returned unchanged, because API servers answer with their texts.
//
// etcd itself decides about conflicts, so several servers may write at once. No call holds a lock while it waits for etcd, except the first
// watch, and writes with an expiry time that need a new lease.
type Store struct {
	client *clientv3.Client
	kv     clientv3.KV
	watch  clientv3.Watcher
	keys   Keys
	now    func() time.Time
	leases leases
	hub    hub

	streams atomic.Int64 // number of watch streams, for their names
	ordered atomic.Bool  // etcd orders progress notifications with the events; see version.go

	closing sync.Once
	// ctx ends the goroutine of the hub and all watches.
	ctx    context.Context // done when the store is closed
	cancel context.CancelFunc
}

// New returns the store in the cluster of a client. The store owns the client from then on. now is the clock for the expiry times of
// PutUntil; etcd itself deletes expired records.
func New(client *clientv3.Client, keys Keys, now func() time.Time) *Store {
	s := &Store{
		client: client, kv: client.KV, watch: client.Watcher, keys: keys, now: now, leases: leases{grant: client.Lease},
		hub: hub{hurry: make(chan struct{}, 1)},
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// Get implements store.Store.
//
// It is linearizable: etcd answers from a quorum. A revision of 0 is the latest one.
func (s *Store) Get(ctx context.Context, key string, at store.Revision) (store.Record, error) {
	if err := s.ready(ctx); err != nil {
		return store.Record{}, err
	}
	// A key outside of the store has no record, but the revision may still be compacted or in the future.
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

// Range implements store.Store. etcd counts the remaining records, which costs it the number of keys in the range.
//
// etcd's ranges are from a key up to an end. GetPrefixRangeEnd gives the end of a prefix, and the key "\x00" as an end is the end of all
// keys:
//
//	Prefix /registry/pods/ after .../a    from "/registry/pods/a\x00" to "/registry/pods0"
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
		from, end = "\x00", "\x00" // all keys to the end
	}
	if after, ok := s.keys.there(r.After); ok && r.After >= r.Prefix {
		from = max(from, after+"\x00")
	}
	// After is greater than all keys with the prefix. etcd would refuse such a range.
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
	// Count is that of the range without the limit.
	page.Remaining = int(found.Count) - len(found.Kvs)
	return page, nil
}

// emptyPage returns a page of a range that can contain no key, at a revision that etcd has.
func (s *Store) emptyPage(ctx context.Context, page store.Page) (store.Page, error) {
	latest, err := s.revision(ctx, page.Revision)
	if page.Revision == 0 {
		page.Revision = latest
	}
	return page, err
}

// revision returns the latest revision, or the reason why the revision at cannot be read. It reads an absent key below the store's own
// prefix, because the user may have permission for no other.
func (s *Store) revision(ctx context.Context, at store.Revision) (store.Revision, error) {
	r, err := s.kv.Get(ctx, s.keys.There+"\x00", clientv3.WithRev(int64(at)), clientv3.WithCountOnly())
	if err != nil {
		return 0, s.failed(err)
	}
	return store.Revision(r.Header.Revision), nil
}

// Compact implements store.Store.
//
// Another server may have compacted further, which is no error. The hub forgets at once; watches of other servers find out from etcd.
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

// Expire does nothing but check the store, because etcd expires records itself.
func (s *Store) Expire(ctx context.Context, _ time.Time) error { return s.ready(ctx) }

// Close implements store.Store.
//
// It waits for the goroutine of the hub, which uses the client, before it closes the client.
func (s *Store) Close() error {
	var err error
	s.closing.Do(func() {
		s.cancel()
		s.hub.wait.Wait()
		// A client of an embedded etcd reports with this error that it is closed.
		if err = s.client.Close(); errors.Is(err, context.Canceled) {
			err = nil
		}
	})
	return err
}

// ready returns the error of a call that must not begin.
func (s *Store) ready(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.ctx.Err() != nil {
		return store.ErrClosed
	}
	return nil
}

// failed translates an error of etcd to one of package store.
//
// After Close, calls fail with errors of the client that are not what a caller expects, so these become ErrClosed.
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

// fault is an error of etcd. The log may show its text, which contains no record.
type fault struct{ error }

// LogText returns the text.
func (f *fault) LogText() string { return f.Error() }

// Unwrap returns the error of etcd's client.
func (f *fault) Unwrap() error { return f.error }
