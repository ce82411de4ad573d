package etcd

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/deed-project/deed/server/store"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/metadata"
)

// Watching etcd once for all watches. A watch of etcd costs its server memory and a stream, and an API server may have thousands of
// watches. So the hub watches all keys of the store, and keeps the last events:
//
//	etcd --one watch--> hub   events with from < revision <= latest
//	                          watch behind from     reads from etcd by a watch of its own until it is not behind any more
//	                          watch within          reads the events, and waits for the next state
//
// How far the hub is becomes visible in latest. Writes under other prefixes of etcd make revisions, too, without events for this store. So
// the hub asks etcd for progress notifications, which say that there are no events up to a revision; see version.go.

// maxRecent is the number of events that a hub keeps at least.
const maxRecent = 1024

// again is the wait before a hub retries a failed watch of etcd.
const again = 100 * time.Millisecond

// hub follows all keys of a store in one etcd watch and keeps the recent events. All watches of the store read those events, so a watch is
// a position in them and costs etcd nothing. The zero hub is ready to begin.
//
// Lock order: beginning, then publishing. Readers load now without a lock.
type hub struct {
	beginning sync.Mutex
	wait      sync.WaitGroup // for the goroutine that follows etcd
	hurry     chan struct{}  // of size 1; a value requests a progress notification at once

	publishing sync.Mutex // held while recent is replaced
	now        atomic.Pointer[recent]
}

// recent is the state that readers see. It is immutable, except that next is closed when a newer state replaces it.
//
// Invariant: it has all events of the store with from < revision <= latest, and no other.
type recent struct {
	from, latest store.Revision
	events       []store.Event // with from < revision <= latest, by revision
	next         chan struct{}
}

// after returns the events after a revision on keys that begin with prefix. The revision must not be before from. The cost grows with the
// number of events after the revision.
func (r *recent) after(after store.Revision, prefix string) store.Batch {
	first, _ := slices.BinarySearchFunc(r.events, after+1, func(e store.Event, at store.Revision) int {
		return int(e.Revision - at)
	})
	return store.Batch{Events: selected(r.events[first:], prefix), Revision: r.latest}
}

// begin starts the hub of a store if it is not running.
//
// The hub begins at the latest revision, with no events. It runs until the store is closed. If it cannot begin, the next call tries again.
func (s *Store) begin(ctx context.Context) error {
	if s.hub.now.Load() != nil {
		return nil
	}
	s.hub.beginning.Lock()
	defer s.hub.beginning.Unlock()
	if s.hub.now.Load() != nil {
		return nil
	}
	s.ordered.Store(s.inOrder(ctx))
	latest, err := s.revision(ctx, 0)
	if err != nil {
		return err
	}
	s.hub.publish(recent{from: latest, latest: latest})
	s.hub.wait.Go(s.listen)
	return nil
}

// publish replaces the state and wakes the watches.
//
// The caller holds publishing, or is begin.
func (h *hub) publish(r recent) {
	r.next = make(chan struct{})
	if before := h.now.Swap(&r); before != nil {
		close(before.next)
	}
}

// hear adds a batch and drops the oldest events beyond the bound.
//
// It drops nothing until twice as many events are there as it must keep. So copying costs a constant time per event.
func (h *hub) hear(b store.Batch) {
	h.publishing.Lock()
	defer h.publishing.Unlock()
	r := *h.now.Load()
	// A compaction moved the hub ahead meanwhile.
	if r.latest >= b.Revision {
		return
	}
	if extra := len(r.events) - maxRecent; extra >= maxRecent {
		r.from = r.events[extra-1].Revision
		for extra < len(r.events) && r.events[extra].Revision == r.from { // same transaction; a watch must see all of its events or none
			extra++
		}
		r.events = slices.Clone(r.events[extra:])
	}
	r.events = append(r.events, b.Events...)
	r.latest = b.Revision
	h.publish(r)
}

// forget drops the events up to a compacted revision, if the hub is running.
//
// A compaction beyond latest moves the hub there: it has missed events, and from says so.
func (h *hub) forget(to store.Revision) {
	h.publishing.Lock()
	defer h.publishing.Unlock()
	now := h.now.Load()
	if now == nil || to <= now.from {
		return
	}
	r := recent{from: to, latest: max(to, now.latest)}
	r.events = slices.DeleteFunc(slices.Clone(now.events), func(e store.Event) bool { return e.Revision <= to })
	h.publish(r)
}

// listen follows etcd until the store is closed. If etcd has compacted the next revision, the hub begins anew. Watches that are behind it
// then ask etcd, and get the error from there.
//
// Any other error, such as that of a member that is gone, is repaired by watching again from the same revision. The version of etcd is
// asked for each time, because a member may have been replaced.
func (s *Store) listen() {
	for s.ctx.Err() == nil {
		s.ordered.Store(s.inOrder(s.ctx))
		from := s.hub.now.Load().latest
		// The hub takes every batch, so follow ends only by an error or with the store.
		err := s.follow(s.ctx, "", from, s.hub.hurry, func(b store.Batch) bool {
			s.hub.hear(b)
			return true
		})
		if errors.Is(err, store.ErrCompacted) {
			if latest, err := s.revision(s.ctx, 0); err == nil {
				s.hub.forget(latest)
			}
		}
		s.pause(s.ctx)
	}
}

// pause waits for a moment, unless ctx is done.
func (s *Store) pause(ctx context.Context) {
	select {
	case <-time.After(again):
	case <-ctx.Done():
	}
}

// streamName distinguishes the streams of watches, because etcd's client lets watches with equal metadata share one.
const streamName = "deed-watch"

// follow watches the keys that begin with prefix after a revision, and calls take with each batch. It ends when take returns false, ctx is
// done, or etcd ends the watch with an error. It asks etcd for progress at intervals, and at once on hurry.
//
// Each watch has its own stream. etcd sends progress to all watches of a stream at once. A progress notification that another watch
// requested may overtake the first events of a watch. The watch would then report that nothing happened, although events are still to come.
//
// Each batch begins where the one before ended, so take gets each event once and in order. hurry may be nil.
func (s *Store) follow(ctx context.Context, prefix string, after store.Revision, hurry <-chan struct{}, take func(store.Batch) bool) error {
	// Without a leader, a member would keep the watch open and send nothing. Require one, and let the watch fail.
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	defer cancel()
	ctx = metadata.AppendToOutgoingContext(ctx, streamName, strconv.FormatInt(s.streams.Add(1), 10))
	there, ok := s.keys.prefix(prefix)
	if !ok {
		there = s.keys.There + "\x00" // the smallest absent key
	}
	// The previous text is part of an event of the store.
	options := []clientv3.OpOption{clientv3.WithRev(int64(after) + 1), clientv3.WithPrevKV(), clientv3.WithPrefix()}
	responses := s.watch.Watch(ctx, there, options...)
	for {
		select {
		case r, open := <-responses:
			batch, err := s.read(ctx, r, open)
			switch {
			case ctx.Err() != nil:
				return nil
			case err != nil:
				return err
			case batch.Revision <= after: // the watch began, or reports the same progress again
				continue
			case !take(batch):
				return nil
			}
			after = batch.Revision
		case <-hurry:
			s.ask(ctx)
		// No response for a while: ask whether the watch is up to date.
		case <-time.After(progress):
			s.ask(ctx)
		case <-ctx.Done():
			return nil
		}
	}
}

// ask requests a progress notification for the watch of ctx, if etcd orders them with events.
func (s *Store) ask(ctx context.Context) {
	// An error can be ignored: the watch then fails too, or etcd's client repairs it. On an ended watch the request would open a new
	// stream.
	if s.ordered.Load() && ctx.Err() == nil {
		_ = s.watch.RequestProgress(ctx)
	}
}
