package watch

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/store"
)

// Waking watches. A server may have thousands of watches of a resource, and most of the time none has anything to send. So none of them
// follows the store itself. One goroutine does, for all watches of a version:
//
//	store ---batches---> broadcaster ---now: the latest update---> watch 1   awake, reads now
//	                                 ---wake------------------>    watch 2   asleep, has a value in More
//
// The broadcaster hands nothing over. It replaces now and wakes the watches. A watch that sleeps through some updates finds only the latest
// one, and reads what it missed from the store; see Watch.sendUpdate. So a slow watch costs the broadcaster nothing, and there are no
// queues.
//
// Lock order: broadcasters.mu, then broadcaster.mu.

// broadcaster follows the store for the watches of a version, in one goroutine. It wakes them when an object of the resource changes.
// Changes of other resources wake no watch.
//
// Once it runs, only its goroutine writes to now and err. Watches read now without a lock.
type broadcaster struct {
	key broadcastKey
	now atomic.Pointer[update] // the latest update

	// mu guards watches and the places in them.
	mu      sync.Mutex
	watches []*subscriber // Watch.place is the index

	ctx    context.Context // done when no watch is left, or when the watches must end
	cancel context.CancelFunc
	over   chan struct{} // closed after the last update
	err    error         // the failure of the store, or nil; valid once over is closed
}

// broadcastKey identifies the watches that share a broadcaster.
//
// end is part of the key because listeners can close one by one: their watches must end while others go on.
type broadcastKey struct {
	version *catalog.Version
	end     context.Context // ends the watches
}

// subscriber is a watch as its broadcaster knows it.
type subscriber struct {
	broadcaster *broadcaster
	place       int // among the watches of the broadcaster; guarded by its mu
	// more has room for one value: it says that something happened, not how often.
	more chan struct{}
}

// newSubscriber returns the subscriber of a watch that has not joined a broadcaster yet.
func newSubscriber() subscriber { return subscriber{more: make(chan struct{}, 1)} }

// More returns a channel from which a value can be received when there may be something to send. There is one channel, so that a goroutine
// that waits for it needs little stack.
func (w *subscriber) More() <-chan struct{} { return w.more }

// wake lets the receiver from More go on. It is safe for concurrent use.
func (w *subscriber) wake() {
	select {
	case w.more <- struct{}{}:
	default: // the channel has a value already
	}
}

// update is a batch of the store that woke the watches.
//
// Only reached changes after it is published. It lets the bookmarks of idle watches advance with writes to other resources, without waking
// a watch for each of them.
type update struct {
	from    store.Revision // the batch has the events after from
	batch   store.Batch
	reached atomic.Int64 // the resource has no other event up to this revision; it grows until the next update
}

// broadcasters is the set of broadcasters of a server. The zero value is an empty set. It is safe for concurrent use.
type broadcasters struct {
	mu sync.Mutex
	of map[broadcastKey]*broadcaster
}

// join adds a watch to the broadcaster with a key. The watch must leave it.
func (all *broadcasters) join(s store.Store, key broadcastKey, w *subscriber) {
	all.mu.Lock()
	defer all.mu.Unlock()
	c := all.of[key]
	if c == nil {
		c = &broadcaster{key: key, over: make(chan struct{})}
		c.ctx, c.cancel = context.WithCancel(key.end)
		// The first update is empty, so that now is never nil. Its batch has revision 0, which no watch takes for news.
		c.now.Store(&update{})
		if all.of == nil {
			all.of = map[broadcastKey]*broadcaster{}
		}
		all.of[key] = c
		go c.run(s, all)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	w.broadcaster, w.place = c, len(c.watches)
	c.watches = append(c.watches, w)
}

// leave removes a watch from its broadcaster.
func (all *broadcasters) leave(w *subscriber) {
	all.mu.Lock()
	defer all.mu.Unlock()
	c := w.broadcaster
	c.mu.Lock()
	defer c.mu.Unlock()
	// Fill the gap with the last watch, so that leaving takes constant time.
	last := len(c.watches) - 1
	other := c.watches[last]
	c.watches[w.place], other.place = other, w.place
	c.watches[last] = nil
	c.watches = c.watches[:last]
	if last == 0 {
		all.drop(c)
	}
}

// drop stops a broadcaster, so that no other watch joins it. The caller holds all.mu.
func (all *broadcasters) drop(c *broadcaster) {
	c.cancel()
	if all.of[c.key] == c {
		delete(all.of, c.key)
	}
}

// run follows the store until the broadcaster stops.
//
// It runs in a goroutine of its own. It takes the broadcaster out of the set before it closes over, so that a watch that ends and comes
// back finds another broadcaster.
func (c *broadcaster) run(s store.Store, all *broadcasters) {
	// Gone ends when the version is replaced or no longer served.
	if gone := c.key.version.Gone; gone != nil {
		defer context.AfterFunc(gone, c.cancel)()
	}
	c.err = c.follow(s)
	all.mu.Lock()
	all.drop(c)
	all.mu.Unlock()
	close(c.over)
	c.wake()
}

// follow publishes the changes of the resource from now on, until its context ends or the store fails.
//
// Watches that joined before the first update read the events before it from the store.
func (c *broadcaster) follow(s store.Store) error {
	at, err := store.Latest(c.ctx, s)
	if err != nil {
		return unlessEnded(c.ctx, err)
	}
	batches, err := s.Watch(c.ctx, c.key.version.Prefix, at)
	if err != nil {
		return unlessEnded(c.ctx, err)
	}
	c.publish(at, store.Batch{Revision: at})
	for b, err := range batches {
		switch {
		case err != nil:
			return err
		case len(b.Events) == 0:
			// Nothing happened to this resource up to the revision. Note it, and wake no watch.
			c.now.Load().reached.Store(int64(b.Revision))
		default:
			c.publish(at, b)
			at = b.Revision
			time.Sleep(c.pause())
		}
	}
	return nil
}

// publish makes a batch, which has the events after a revision, the latest update.
func (c *broadcaster) publish(from store.Revision, b store.Batch) {
	m := &update{from: from, batch: b}
	m.reached.Store(int64(b.Revision))
	c.now.Store(m)
	c.wake()
}

// wake wakes all watches.
//
// It takes time in proportion to the watches, all of it sends to channels that have room or a value.
func (c *broadcaster) wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.watches {
		w.wake()
	}
}

const (
	// gatherEach is about the time that it takes to send one watch something, server and client together. Most of it is the write to the
	// connection. gatherMost is the longest time for which an event is held back.
	gatherEach = 200 * time.Microsecond
	gatherMost = 50 * time.Millisecond
)

// pause returns the time that it takes to send all watches something. For that time they are not woken again, so that the events that come
// meanwhile are sent in one piece. The more watches there are, the more that saves. With few watches there is no pause. An event that comes
// after a pause is sent at once.
func (c *broadcaster) pause() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if wait := min(gatherMost, time.Duration(len(c.watches))*gatherEach); wait >= time.Millisecond {
		return wait
	}
	return 0
}

// unlessEnded returns err, or nil if ctx has ended: then err says no more than that.
func unlessEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
