package watch

import (
	"context"
	"math/rand/v2"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/rest/read"
	"github.com/deed-project/deed/server/store"
)

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
	subscriber
	client     context.Context // ends when the client is gone
	feed       *feed
	initial    *read.Initial  // nil once the initial events are sent, or if the client wants none
	seen       *update        // of the broadcaster, up to which everything is sent; nil at first
	after      store.Revision // up to which events were sent
	bookmarks  bool           // the client takes bookmarks
	bookmarkAt time.Time      // when the next one is due; zero before the first is planned
	until      time.Time
	alarm      *time.Timer // goes off at the earlier of bookmarkAt and until
	forget     func() bool // stops the end of client from waking the watch
	hub        *Hub
}

// Hub is what the watches of a server share: broadcasters, and encoded events. It is safe for concurrent use.
type Hub struct {
	Reader *read.Reader

	broadcasters broadcasters
	feeds        feeds
	pieces       pieces
}

// Forget drops what is kept of a resource that is replaced or no more served.
func (h *Hub) Forget(resource *catalog.Resource) {
	h.pieces.forget(resource)
}

// Watch returns the watch that a request asks for. It ends when client ends, and with end, which all watches have in common that may go on
// for as long.
func (h *Hub) Watch(q *rest.Request, client, end context.Context, p Printer) (*Watch, error) {
	options, err := api.ParseListOptions(q.Query)
	if err != nil {
		return nil, err
	}
	objects, err := h.Reader.Collection(q, options)
	if err != nil {
		return nil, err
	}
	objects.Texts = p.Texts
	if name, is := options.Fields.RequiresExactMatch("metadata.name"); q.Target.Name != "" && !options.Fields.Empty() &&
		!(is && name == q.Target.Name) {
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
		if after, err = store.Latest(q.Context(), h.Reader.Store); err != nil {
			return nil, err
		}
	}
	w := &Watch{client: client, hub: h, after: after, bookmarks: options.Bookmarks, subscriber: newSubscriber()}
	if initial {
		w.initial = objects.Initial(q, version)
	}
	limit := options.Timeout
	if limit <= 0 {
		limit = longWatch + rand.N(longWatch)
	}
	w.until = time.Now().Add(limit)
	w.alarm = time.AfterFunc(limit, w.wake)
	w.forget = context.AfterFunc(client, w.wake)
	w.feed = h.feeds.join(feedKey{
		q.Version, objects.Prefix, q.Target.Name, options.Labels.String(), options.Fields.String(), p.Name,
	}, &subject{objects, p})
	h.broadcasters.join(h.Reader.Store, broadcastKey{q.Version, end}, &w.subscriber)
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
	w.hub.broadcasters.leave(&w.subscriber)
	w.hub.feeds.leave(w.feed)
	w.feed = nil
}
