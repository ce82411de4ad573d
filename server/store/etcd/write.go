package etcd

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/deed-project/deed/server/store"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Writes are transactions of etcd that compare the revision of the key. A key without a record has revision 0 in such a comparison, so
// creating and replacing are the same transaction:
//
//	if mod(key) = expect  then put  else get

// recordOf returns a key and value of etcd as a record. It shares the text.
func (s *Store) recordOf(kv *mvccpb.KeyValue) store.Record {
	text := kv.Value
	if text == nil {
		text = []byte{}
	}
	return store.Record{
		Key: s.keys.here(string(kv.Key)), Text: text,
		Created: store.Revision(kv.CreateRevision), Revision: store.Revision(kv.ModRevision),
	}
}

// Put implements store.Store.
func (s *Store) Put(ctx context.Context, key string, text []byte, expect store.Revision) (store.Revision, error) {
	if err := s.ready(ctx); err != nil {
		return 0, err
	}
	there, err := s.keys.mustBe(key)
	if err != nil {
		return 0, err
	}
	return s.write(ctx, there, expect, clientv3.OpPut(there, string(text)))
}

// PutUntil implements store.Store.
//
// If the write conflicts, the lease stays and is used by the next record with a similar time.
func (s *Store) PutUntil(
	ctx context.Context, key string, text []byte, expect store.Revision, until time.Time,
) (store.Revision, error) {
	if err := s.ready(ctx); err != nil {
		return 0, err
	}
	if until.IsZero() {
		return s.Put(ctx, key, text, expect)
	}
	there, err := s.keys.mustBe(key)
	if err != nil {
		return 0, err
	}
	lease, err := s.leases.until(ctx, until, s.now())
	if err != nil {
		return 0, s.failed(err)
	}
	return s.write(ctx, there, expect, clientv3.OpPut(there, string(text), clientv3.WithLease(lease)))
}

// Delete implements store.Store.
//
// With an expected revision, no record is a failed comparison, which the record that comes with it tells from a conflict. Without one, the
// transaction only demands that the record exists.
func (s *Store) Delete(ctx context.Context, key string, expect store.Revision) (store.Revision, error) {
	if err := s.ready(ctx); err != nil {
		return 0, err
	}
	there, ok := s.keys.there(key)
	if !ok {
		return 0, store.ErrNotFound
	}
	if expect != 0 {
		revision, err := s.write(ctx, there, expect, clientv3.OpDelete(there))
		if conflict, ok := err.(*store.ConflictError); ok && conflict.Current.Revision == 0 {
			return 0, store.ErrNotFound
		}
		return revision, err
	}
	r, err := s.kv.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(there), "!=", 0)).Then(clientv3.OpDelete(there)).Commit()
	switch {
	case err != nil:
		return 0, s.failed(err)
	case !r.Succeeded:
		return 0, store.ErrNotFound
	}
	return store.Revision(r.Header.Revision), nil
}

// write carries out op if the record of a key has the expected revision, and otherwise reads the record, in one transaction.
//
// If etcd does not answer in time, the write may have happened or not.
func (s *Store) write(ctx context.Context, key string, expect store.Revision, op clientv3.Op) (store.Revision, error) {
	r, err := s.kv.Txn(ctx).
		If(clientv3.Compare(clientv3.ModRevision(key), "=", int64(expect))).
		Then(op).Else(clientv3.OpGet(key)).Commit()
	if err != nil {
		return 0, s.failed(err)
	}
	if r.Succeeded {
		return store.Revision(r.Header.Revision), nil
	}
	conflict := &store.ConflictError{Expected: expect}
	if found := r.Responses[0].GetResponseRange().Kvs; len(found) > 0 {
		conflict.Current = s.recordOf(found[0])
	}
	return 0, conflict
}

// Leases are shared, because a lease costs etcd more than a record does.
const (
	leaseShare = 1000        // records per lease at most
	leaseSlack = time.Minute // how long a record may outlive its expiry time
)

// leases hands out leases. The zero value with a grantor is ready.
type leases struct {
	grant clientv3.Lease

	// mu guards the fields below. It is held while etcd grants a lease, so that requests that come together share it.
	mu   sync.Mutex
	last clientv3.LeaseID
	ends time.Time // expiry time of last
	used int
}

// until returns a lease that ends at a time, or up to leaseSlack later.
//
// The last lease is used again if it ends neither before the record may go nor too long after. A new one ends leaseSlack later than needed,
// so that records of the next minute can share it.
func (l *leases) until(ctx context.Context, end, now time.Time) (clientv3.LeaseID, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.used > 0 && l.used < leaseShare && !l.ends.Before(end) && !l.ends.After(end.Add(leaseSlack)) {
		l.used++
		return l.last, nil
	}
	seconds := int64((end.Sub(now) + leaseSlack + time.Second - 1) / time.Second)
	granted, err := l.grant.Grant(ctx, max(1, seconds))
	if err != nil {
		return 0, fmt.Errorf("lease of %d s: %w", seconds, err)
	}
	l.last, l.ends, l.used = granted.ID, now.Add(time.Duration(granted.TTL)*time.Second), 1
	return l.last, nil
}
