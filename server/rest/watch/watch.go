package watch

import (
	"context"
	stderrors "errors"
	"math/rand/v2"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/cache"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/rest/read"
	"github.com/deed-project/deed/server/store"
)

// bookmarkEvery is the interval of bookmarks.
const bookmarkEvery = time.Minute

// lastMark is how long before its end a watch gets the last bookmark, so that the client can resume from there.
const lastMark = 2 * time.Second

// longWatch is the shortest time of a watch whose client asks for no timeout. The longest is twice that.
const longWatch = 30 * time.Minute

// Watch sends a client the objects of a collection, and what happens to them:
//
//	initial    the objects that exist, unless the query names a revision to go on from
//	events     of the store, as the selectors of the client select them
//	bookmarks  at which revision the watch is, if the client takes them
//
// Most of the time a watch waits. So it holds only what tells it apart from others. It is for one goroutine at a time, and must be closed.
type Watch struct {
	client      context.Context // ends when the client is gone
	feed        *feed
	initial     *read.Initial // nil once the initial events are sent, or if the client wants none
	broadcaster *broadcaster
	place       int            // among the watches of the broadcaster; guarded by its mu
	seen        *update        // of the broadcaster, up to which everything is sent; nil at first
	after       store.Revision // up to which events were sent
	bookmarks   bool           // the client takes bookmarks
	bookmarkAt  time.Time      // when the next one is due; zero before the first is planned
	until       time.Time
	alarm       *time.Timer // goes off at the earlier of bookmarkAt and until
	more        chan struct{}
	forget      func() bool // stops the end of client from waking the watch
	hub         *Hub
}

// Hub is what the watches of a server share: broadcasters, and encoded events. It is safe for concurrent use.
type Hub struct {
	Store store.Store

	broadcasters broadcasters
	feeds        feeds
	pieces       cache.Cache[pieceKey, []byte]
}

// Forget drops what is kept of a resource that is replaced or no more served.
func (h *Hub) Forget(resource *catalog.Resource) {
	h.pieces.RemoveIf(func(k pieceKey) bool { return k.isOf(resource) })
}

// Watch returns the watch that a request asks for. It ends when client ends, and with end, which all watches have in common that may go on
// for as long.
func (h *Hub) Watch(r *read.View, client, end context.Context, p Printer) (*Watch, error) {
	options, err := api.ParseListOptions(r.Query)
	if err != nil {
		return nil, err
	}
	objects, err := r.Collection(options)
	if err != nil {
		return nil, err
	}
	objects.Texts = p.Texts
	if name, is := options.Fields.RequiresExactMatch("metadata.name"); r.Target.Name != "" && !options.Fields.Empty() &&
		!(is && name == r.Target.Name) {
		return nil, errors.NewBadRequest("fieldSelector metadata.name doesn't match requested name")
	}
	version, err := api.ParseVersion(options.Version, false)
	if err != nil {
		return nil, err
	}
	after, initial := store.Revision(version), version == 0
	if options.SendInitialEvents != nil {
		initial = *options.SendInitialEvents
	}
	if !initial && after == 0 { // the client wants what happens from now on
		if after, err = store.Latest(r.HTTP.Context(), h.Store); err != nil {
			return nil, err
		}
	}
	w := &Watch{client: client, hub: h, after: after, bookmarks: options.Bookmarks, more: make(chan struct{}, 1)}
	if initial {
		w.initial = r.Initial(objects, version)
	}
	limit := options.Timeout
	if limit <= 0 {
		limit = longWatch + rand.N(longWatch)
	}
	w.until = time.Now().Add(limit)
	w.alarm = time.AfterFunc(limit, w.wake)
	w.forget = context.AfterFunc(client, w.wake)
	w.feed = h.feeds.join(feedKey{
		r.Version, objects.Prefix, r.Target.Name, options.Labels.String(), options.Fields.String(), p.Name,
	}, &subject{objects, p})
	h.broadcasters.join(h.Store, broadcastKey{r.Version, end}, w)
	return w, nil
}

// IsList reports whether the watch begins with the objects that exist and a bookmark behind them. It is to be called before the first Send.
func (w *Watch) IsList() bool { return w.initial != nil && w.bookmarks }

// Close releases what the watch holds. Another Close does nothing.
func (w *Watch) Close() {
	if w.feed == nil {
		return
	}
	w.alarm.Stop()
	w.forget()
	w.hub.broadcasters.leave(w)
	w.hub.feeds.leave(w.feed)
	w.feed = nil
}

// More returns a channel from which a value can be received when there may be something to send. There is one channel, so that a goroutine
// that waits for it needs little stack.
func (w *Watch) More() <-chan struct{} { return w.more }

// wake lets the receiver from More go on. It is safe for concurrent use.
func (w *Watch) wake() {
	select {
	case w.more <- struct{}{}:
	default: // the channel has a value already
	}
}

// Send calls yield with the events that are due, in pieces that belong together. A piece may be used until yield returns. Send reports whether
// the watch goes on: it does not if yield returned false, the client is gone, or the watch ends. A failure is the last event that is sent. The
// error is that of an event that cannot be encoded.
func (w *Watch) Send(yield func(Chunk) bool) (on bool, err error) {
	send := func(t Chunk) bool {
		t.of = w
		return len(t.Text) == 0 || yield(t)
	}
	on, err = w.send(w.client, send)
	var notEncoded *printError
	if err == nil || w.client.Err() != nil || stderrors.As(err, &notEncoded) {
		return on && err == nil && w.client.Err() == nil, unlessEnded(w.client, err)
	}
	_, err = w.sendOne(failed(err, w.at()), send)
	return false, err
}

// send is Send without the handling of errors.
func (w *Watch) send(ctx context.Context, yield func(Chunk) bool) (on bool, err error) {
	if w.initial != nil {
		if on, err := w.sendInitial(yield); !on || err != nil {
			return false, err
		}
		w.initial = nil
	}
	if on, err := w.follow(ctx, yield); !on || err != nil {
		return false, err
	}
	return w.bookmarkIfDue(time.Now(), yield)
}

// at returns the revision up to which the client has everything.
func (w *Watch) at() store.Revision {
	if w.seen == nil {
		return w.after
	}
	return max(w.after, store.Revision(w.seen.reached.Load()))
}

// follow sends the events of the store up to the latest update of the broadcaster.
func (w *Watch) follow(ctx context.Context, yield func(Chunk) bool) (on bool, err error) {
	for {
		m := w.broadcaster.now.Load()
		if m == w.seen {
			break
		}
		if on, err := w.sendUpdate(ctx, m, yield); !on || err != nil {
			return false, err
		}
		w.seen = m
	}
	select {
	case <-w.broadcaster.over:
		return false, w.finish(ctx, yield)
	default:
		return true, nil
	}
}

// sendUpdate sends the events up to an update: its batch, or more if the watch missed an earlier update.
func (w *Watch) sendUpdate(ctx context.Context, m *update, yield func(Chunk) bool) (on bool, err error) {
	switch {
	case m.batch.Revision <= w.after:
		return true, nil
	case m.from <= w.after:
		return w.sendBatch(m.from, m.batch, yield)
	}
	return w.catchUp(ctx, m.batch.Revision, yield)
}

// catchUp sends the events that the store has up to a revision.
func (w *Watch) catchUp(ctx context.Context, to store.Revision, yield func(Chunk) bool) (on bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(w.broadcaster.key.end, cancel)()
	w.after = w.at()
	batches, err := w.hub.Store.Watch(ctx, w.feed.Prefix, w.after)
	if err != nil {
		return false, unlessEnded(ctx, err)
	}
	from := w.after
	for b, err := range batches {
		if err != nil {
			return false, err
		}
		if on, err := w.sendBatch(from, b, yield); !on || err != nil || w.after >= to {
			return on, err
		}
		from = b.Revision
	}
	return false, nil
}

// finish ends the watch because its broadcaster has stopped. If the resource is gone, it sends what is left, such as the deletion of the
// objects.
func (w *Watch) finish(ctx context.Context, yield func(Chunk) bool) error {
	gone := w.broadcaster.key.version.Gone
	if w.broadcaster.err != nil || w.broadcaster.key.end.Err() != nil || gone == nil || gone.Err() == nil {
		return w.broadcaster.err
	}
	to, err := store.Latest(ctx, w.hub.Store)
	if err != nil || w.at() >= to {
		return unlessEnded(ctx, err)
	}
	ctx, cancel := context.WithTimeout(ctx, lastMark)
	defer cancel()
	_, err = w.catchUp(ctx, to, yield)
	return err
}

// bookmarkIfDue sends a bookmark if one is due, and reports whether the time of the watch is not over.
func (w *Watch) bookmarkIfDue(now time.Time, yield func(Chunk) bool) (on bool, err error) {
	if !now.Before(w.until) {
		return false, nil
	}
	if !w.bookmarks || now.Before(w.bookmarkAt) {
		return true, nil
	}
	if !w.bookmarkAt.IsZero() {
		if on, err := w.sendOne(bookmark(w.feed.Version, w.at()), yield); !on || err != nil {
			return false, err
		}
	}
	w.bookmarkAt = now.Add(w.untilMark(now))
	next := w.until
	if w.bookmarkAt.Before(next) {
		next = w.bookmarkAt
	}
	w.alarm.Reset(next.Sub(now))
	return true, nil
}

// untilMark returns the time until the next bookmark. They come often enough for a client that loses its connection, and once shortly before
// the end of the watch.
func (w *Watch) untilMark(now time.Time) time.Duration {
	if left := w.until.Sub(now) - lastMark; left > 0 {
		return min(left, bookmarkEvery)
	}
	return bookmarkEvery
}

// unlessEnded returns err, or nil if ctx has ended: then err says no more than that.
func unlessEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
