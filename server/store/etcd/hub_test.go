package etcd

import (
	"context"
	"testing"
	"time"

	"github.com/deed-project/deed/server/store"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// heard returns a batch of one event.
func heard(at store.Revision) store.Batch {
	return store.Batch{Events: []store.Event{{Record: store.Record{Key: "/a", Revision: at}}}, Revision: at}
}

// TestHub sends a hub more events than it keeps, and events that it already has.
func TestHub(t *testing.T) {
	var h hub
	h.publish(recent{from: 10, latest: 10})
	last := store.Revision(10 + 2*maxRecent + 1)
	for at := store.Revision(11); at <= last; at++ {
		h.hear(heard(at))
		h.hear(heard(at - 1))
	}
	now := h.now.Load()
	if want := last - 1 - maxRecent; now.from != want || now.latest != last {
		t.Errorf("it remembers from %d up to %d, want from %d up to %d", now.from, now.latest, want, last)
	}
	for next := now.from + 1; next <= last; next++ {
		if b := now.after(next-1, "/"); b.Events[0].Revision != next || len(b.Events) != int(last-next+1) || b.Revision != last {
			t.Fatalf("after %d come %d events from %d on, up to %d", next-1, len(b.Events), b.Events[0].Revision, b.Revision)
		}
	}
	h.forget(last - 2)
	if now := h.now.Load(); now.from != last-2 || len(now.after(now.from, "").Events) != 2 {
		t.Errorf("it remembers from %d on: %v", now.from, now.events)
	}
}

// granting implements clientv3.Lease and grants leases of an absent etcd.
type granting struct {
	clientv3.Lease
	granted clientv3.LeaseID
}

// Grant grants a lease with the requested TTL.
func (g *granting) Grant(_ context.Context, ttl int64) (*clientv3.LeaseGrantResponse, error) {
	g.granted++
	return &clientv3.LeaseGrantResponse{ID: g.granted, TTL: ttl}, nil
}

// TestLeases checks that records with close expiry times share a lease, and that no lease ends too early.
func TestLeases(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	l := leases{grant: &granting{}}
	for i, c := range []struct {
		end  time.Duration
		want clientv3.LeaseID
	}{
		{time.Hour, 1}, {time.Hour + leaseSlack, 1}, {time.Hour + leaseSlack + time.Second, 2},
		{time.Hour + 2*leaseSlack, 2}, {time.Hour + leaseSlack, 3}, {2 * time.Hour, 4}, {-time.Hour, 5},
	} {
		if got, err := l.until(t.Context(), now.Add(c.end), now); got != c.want || err != nil {
			t.Errorf("%d: a record for %v has lease %d, want %d; %v", i, c.end, got, c.want, err)
		}
	}
}
