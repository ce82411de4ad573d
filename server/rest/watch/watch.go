package watch

import (
	"context"
	"math"
	"math/rand/v2"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/rest/read"
	"github.com/deed-project/deed/server/store"
)

// longWatch is the shortest duration of a watch without a timeout. The longest is twice that, so that watches do not end all at once.
const longWatch = 30 * time.Minute

// Watch sends a client the objects of a collection, and their changes:
//
//	initial    the existing objects, unless the query names a revision to resume from
//	events     of the store, filtered by the client's selectors
//	bookmarks  with the revision of the watch, if the client takes them
//
// A watch waits most of the time, so it holds only its own state. One goroutine at a time may use it, and it must be closed.
//
// A goroutine waits for More and then calls Send. More gets a value when the broadcaster has an update, when the alarm fires, and when the
// client leaves.
type Watch struct {
	subscriber
	client  context.Context // done when the client has left
	feed    *feed
	initial *read.Initial // nil once the initial events are sent, or if the client wants none
	seen    *update       // the update up to which all events are sent; nil at first
	// seen and after are the position in the updates and in the events.
	after      store.Revision // the revision up to which all events are sent
	bookmarks  bool           // the client takes bookmarks
	isList     bool           // a bookmark ends the initial events
	over       bool           // the timeout is negative: there are no events
	bookmarkAt time.Time      // time of the next bookmark; zero before the first is planned
	until      time.Time
	alarm      *time.Timer // fires at the earlier of bookmarkAt and until
	forget     func() bool // stops client's end from waking the watch
	hub        *Hub
}

// Hub is what the watches of a server share: broadcasters and encoded events. It is safe for concurrent use.
//
// Reader is set before the first watch. The other fields are locked each on its own.
type Hub struct {
	Reader *read.Reader

	broadcasters broadcasters
	feeds        feeds
	pieces       pieces
}

// Forget drops everything kept of a resource that is replaced or no longer served.
//
// Broadcasters end by themselves when a version is gone, and feeds when their watches leave.
func (h *Hub) Forget(resource *catalog.Resource) {
	h.pieces.forget(resource)
}

// Watch returns the watch of a request. It ends with client, and with end, which is the context of all watches that must end together.
//
// Where it begins follows from the query, as in kube-apiserver:
//
//	resourceVersion   sendInitialEvents   begins with
//	none or 0         absent              the existing objects
//	n                 absent              the events after n
//	any               true                the existing objects, not older than n
//	none or 0         false               the events from now on
//	n                 false               the events after n
//
// Its revision is known before it joins the broadcaster, and before the client gets headers. What happens in between is in the history of the
// store. So a client that has the headers misses no write, not even the deletion of an object that it has not been told of.
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
	after, initial := store.Revision(min(version, math.MaxInt64)), version == 0
	if options.SendInitialEvents != nil {
		initial = *options.SendInitialEvents
	}
	if !initial && after == 0 { // the client wants only future events
		if after, err = store.Latest(q.Context(), h.Reader.Store); err != nil {
			return nil, err
		}
	}
	w := &Watch{client: client, hub: h, after: after, bookmarks: options.Bookmarks, subscriber: newSubscriber()}
	if initial {
		if w.initial, err = objects.Initial(q, version); err != nil {
			return nil, err
		}
		w.isList = options.Bookmarks && options.SendInitialEvents != nil
	}
	// A watch without a timeout gets a random one, as in kube-apiserver. One with a negative timeout ends before it sends anything.
	limit := options.Timeout
	if limit == 0 {
		limit = longWatch + rand.N(longWatch)
	}
	w.over = limit < 0
	w.until = time.Now().Add(limit)
	w.alarm = time.AfterFunc(limit, w.wake)
	w.forget = context.AfterFunc(client, w.wake)
	w.feed = h.feeds.join(feedKey{
		q.Version, objects.Prefix, q.Target.Name, options.Labels.String(), options.Fields.String(), p.Name,
	}, &subject{objects, p})
	h.broadcasters.join(h.Reader.Store, broadcastKey{q.Version, end}, &w.subscriber)
	return w, nil
}

// IsList reports whether the watch begins with the existing objects and a bookmark after them.
func (w *Watch) IsList() bool { return w.isList }

// Close releases the resources of the watch. Repeated calls do nothing.
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
