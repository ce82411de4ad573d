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

// maxRecent is how many events a hub remembers at least.
const maxRecent = 1024

// again is how long a hub waits before it turns to etcd once more when etcd failed.
const again = 100 * time.Millisecond

// hub follows all keys of a store once for all watches, which read what it remembers. So a watch is
// a place among the recent events, as one of a store in memory, and costs etcd nothing. The zero
// hub is ready to begin.
type hub struct {
	beginning sync.Mutex
	wait      sync.WaitGroup // of the goroutine that follows
	hurry     chan struct{}  // of size 1: somebody waits to hear how far etcd is

	publishing sync.Mutex // is held by who changes now
	now        atomic.Pointer[recent]
}

// recent is what a hub has heard. It never changes, except that next is closed when another takes
// its place.
type recent struct {
	from, latest store.Revision
	events       []store.Event // those after from up to latest, in the order of their revisions
	next         chan struct{}
}

// after returns the events after a revision, which is not before from, on keys that begin with
// prefix. Its cost grows with the number of events after that revision.
func (r *recent) after(after store.Revision, prefix string) store.Batch {
	first, _ := slices.BinarySearchFunc(r.events, after+1, func(e store.Event, at store.Revision) int {
		return int(e.Revision - at)
	})
	return store.Batch{Events: selected(r.events[first:], prefix), Revision: r.latest}
}

// begin makes the hub of a store follow, unless it does already.
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

// publish shows what was heard to those who watch.
func (h *hub) publish(r recent) {
	r.next = make(chan struct{})
	if before := h.now.Swap(&r); before != nil {
		close(before.next)
	}
}

// hear adds a batch. What is forgotten for it is at the beginning.
func (h *hub) hear(b store.Batch) {
	h.publishing.Lock()
	defer h.publishing.Unlock()
	r := *h.now.Load()
	if r.latest >= b.Revision {
		return
	}
	if extra := len(r.events) - maxRecent; extra >= maxRecent {
		r.from = r.events[extra-1].Revision
		for extra < len(r.events) && r.events[extra].Revision == r.from { // of one transaction, of which a watch sees all or nothing
			extra++
		}
		r.events = slices.Clone(r.events[extra:])
	}
	r.events = append(r.events, b.Events...)
	r.latest = b.Revision
	h.publish(r)
}

// forget forgets what was before a revision, if the hub ever began.
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

// listen hears what etcd tells until the store is closed. When etcd has forgotten what comes next,
// the hub begins anew: watches that are still behind it ask etcd, and are told so.
func (s *Store) listen() {
	for s.ctx.Err() == nil {
		s.ordered.Store(s.inOrder(s.ctx))
		from := s.hub.now.Load().latest
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

// pause waits a little, unless ctx is done.
func (s *Store) pause(ctx context.Context) {
	select {
	case <-time.After(again):
	case <-ctx.Done():
	}
}

// streamName is what the streams of watches differ in: etcd's client lets those share one that say the same.
const streamName = "deed-watch"

// follow calls take with what etcd tells of keys that begin with prefix after a revision, until take
// returns false, ctx is done, or etcd ends the watch with an error. A watch that hears nothing asks from time to time how far it is, and
// at once when hurry says so.
//
// Each watch has a stream of its own. How far it is, etcd tells to all watches of a stream at once, and what it
// tells because another one asked may overtake the beginning of a watch: then it would claim that nothing
// happened in the past that the watch is still to hear of.
func (s *Store) follow(ctx context.Context, prefix string, after store.Revision, hurry <-chan struct{}, take func(store.Batch) bool) error {
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	defer cancel()
	ctx = metadata.AppendToOutgoingContext(ctx, streamName, strconv.FormatInt(s.streams.Add(1), 10))
	there, ok := s.keys.prefix(prefix)
	if !ok {
		there = s.keys.There + "\x00" // where nothing is
	}
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
			case batch.Revision <= after: // it began, or says again how far it is
				continue
			case !take(batch):
				return nil
			}
			after = batch.Revision
		case <-hurry:
			s.ask(ctx)
		case <-time.After(progress):
			s.ask(ctx)
		case <-ctx.Done():
			return nil
		}
	}
}

// ask asks how far the watch of ctx is, if etcd can say so.
func (s *Store) ask(ctx context.Context) {
	// If this fails the watch fails too, or comes back by itself. For a watch that is over it would begin a stream anew.
	if s.ordered.Load() && ctx.Err() == nil {
		_ = s.watch.RequestProgress(ctx)
	}
}
