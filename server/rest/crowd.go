package rest

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/store"
)

// crowd is what watches of a version have in common while they wait: one goroutine follows the store, and wakes all of them when
// something happened to the resource. What happens to others wakes nobody.
type crowd struct {
	key crowdKey
	now atomic.Pointer[moment] // the latest one

	mu      sync.Mutex
	watches []*Watch // each at its place

	ctx    context.Context // done when no watch is left, or none may go on
	cancel context.CancelFunc
	over   chan struct{} // closed when no moment follows
	err    error         // why, if the store failed; to be read once over is closed
}

// crowdKey tells whose watches make a crowd.
type crowdKey struct {
	version *catalog.Version
	end     context.Context // the watches end with it
}

// moment is one at which a crowd was woken.
type moment struct {
	from    store.Revision // the batch has the events after it
	batch   store.Batch
	reached atomic.Int64 // nothing else happened up to this revision: it grows until there is another moment
}

// crowds are those of a server. The zero crowds are none and ready. They are safe for concurrent use.
type crowds struct {
	mu sync.Mutex
	of map[crowdKey]*crowd
}

// join makes a watch one of a crowd. The watch must leave it.
func (all *crowds) join(s store.Store, key crowdKey, w *Watch) {
	all.mu.Lock()
	defer all.mu.Unlock()
	c := all.of[key]
	if c == nil {
		c = &crowd{key: key, over: make(chan struct{})}
		c.ctx, c.cancel = context.WithCancel(key.end)
		c.now.Store(&moment{})
		if all.of == nil {
			all.of = map[crowdKey]*crowd{}
		}
		all.of[key] = c
		go c.run(s, all)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	w.crowd, w.place = c, len(c.watches)
	c.watches = append(c.watches, w)
}

// leave takes a watch out of its crowd.
func (all *crowds) leave(w *Watch) {
	all.mu.Lock()
	defer all.mu.Unlock()
	c := w.crowd
	c.mu.Lock()
	defer c.mu.Unlock()
	last := len(c.watches) - 1
	other := c.watches[last]
	c.watches[w.place], other.place = other, w.place
	c.watches[last] = nil
	c.watches = c.watches[:last]
	if last == 0 {
		all.drop(c)
	}
}

// drop lets no other watch join a crowd. The caller holds all.mu.
func (all *crowds) drop(c *crowd) {
	c.cancel()
	if all.of[c.key] == c {
		delete(all.of, c.key)
	}
}

// run wakes the crowd until it is over.
func (c *crowd) run(s store.Store, all *crowds) {
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

// follow wakes the crowd of what happens from now on, until its context is done, or the store fails.
func (c *crowd) follow(s store.Store) error {
	at, err := latest(c.ctx, s)
	if err != nil {
		return unless(c.ctx, err)
	}
	batches, err := s.Watch(c.ctx, c.key.version.Prefix, at)
	if err != nil {
		return unless(c.ctx, err)
	}
	c.show(at, store.Batch{Revision: at})
	for b, err := range batches {
		switch {
		case err != nil:
			return err
		case len(b.Events) == 0:
			c.now.Load().reached.Store(int64(b.Revision))
		default:
			c.show(at, b)
			at = b.Revision
			time.Sleep(c.pause())
		}
	}
	return nil
}

// show makes a batch that has the events after a revision the latest moment.
func (c *crowd) show(from store.Revision, b store.Batch) {
	m := &moment{from: from, batch: b}
	m.reached.Store(int64(b.Revision))
	c.now.Store(m)
	c.wake()
}

// wake wakes all watches.
func (c *crowd) wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.watches {
		w.wake()
	}
}

const (
	// gatherEach is what it costs about to tell one watch something, server and client together, most of which is the write to its
	// connection, and gatherMost how long an event may be held back at most.
	gatherEach = 200 * time.Microsecond
	gatherMost = 50 * time.Millisecond
)

// pause returns how long it takes to tell a crowd something. That long it is not woken again, so that what happens meanwhile goes to each in
// one piece: the larger the crowd, the more it saves. With few watches that is no time at all, and what comes after a pause is told at
// once.
func (c *crowd) pause() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if wait := min(gatherMost, time.Duration(len(c.watches))*gatherEach); wait >= time.Millisecond {
		return wait
	}
	return 0
}

// latest returns the revision of a store.
func latest(ctx context.Context, s store.Store) (store.Revision, error) {
	page, err := s.Range(ctx, store.Range{Prefix: "\x00", Limit: 1}) // no more than the revision is asked for
	return page.Revision, err
}
