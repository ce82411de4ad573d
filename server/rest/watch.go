package rest

import (
	"context"
	stderrors "errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// bookmarkEvery is how often a watch that asks for bookmarks is told how far it has come.
const bookmarkEvery = time.Minute

// longWatch is how long a watch takes at least that says no time; at most it is twice that.
const longWatch = 30 * time.Minute

// initialEnd marks the bookmark that follows the objects which were there when the watch began.
const initialEnd = "k8s.io/initial-events-end"

// The types of events.
const (
	Added    = "ADDED"
	Modified = "MODIFIED"
	Deleted  = "DELETED"
	Bookmark = "BOOKMARK"
	Failed   = "ERROR"
)

// Event is what a watch tells of an object, or of itself.
type Event struct {
	Type   string
	Object value.Value // a Status, if the event is an error
	// Shared keeps texts of the event for other watchers that are told of it; nil for events of one watch.
	Shared interface {
		Text(name string, make func() ([]byte, error)) ([]byte, error)
	}
}

// Watch returns the events of a collection from the revision that the query names, in batches of what happened together, until
// ctx is done.
//
//	options  of the query
//	begin    with what is there, unless the query names a revision to go on from
//	follow   the store; objects that begin or cease to be what the selectors are about come and go
//	mark     how far the watch has come, if the client takes bookmarks
//
// The error comes before the first event; what fails later is an event, the last one.
func (r *Request) Watch(ctx context.Context) (iter.Seq[[]Event], error) {
	options, err := api.ParseListOptions(r.Query)
	if err != nil {
		return nil, err
	}
	s, err := newSelector(r.Version, options)
	if err != nil {
		return nil, err
	}
	w := &watcher{Request: r, options: options, selector: s, prefix: r.Version.KeyPrefix(r.Target.Namespace)}
	if w.after, err = api.ParseVersion(options.Version, false); err != nil {
		return nil, err
	}
	if r.Target.Name != "" {
		w.only = r.Target.Name
	}
	return func(yield func([]Event) bool) { w.run(ctx, yield) }, nil
}

// watcher is a watch under way.
type watcher struct {
	*Request
	options  api.ListOptions
	selector *selector
	prefix   string
	only     string // the name of the only object that it is about, "" for all
	after    int64  // the revision up to which events were told
}

func (w *watcher) run(ctx context.Context, yield func([]Event) bool) {
	limit := w.options.Timeout
	if limit <= 0 {
		limit = longWatch + rand.N(longWatch)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	initial := w.after == 0
	if w.options.SendInitialEvents != nil {
		initial = *w.options.SendInitialEvents
	}
	if initial {
		events, err := w.begin()
		if err != nil {
			yield([]Event{w.failed(err)})
			return
		}
		if !yield(events) {
			return
		}
	}
	if err := w.follow(ctx, yield); err != nil && ctx.Err() == nil {
		yield([]Event{w.failed(err)})
	}
}

// begin returns what is there as events, and marks their end if the client takes bookmarks.
func (w *watcher) begin() ([]Event, error) {
	l := &lister{Request: w.Request, options: w.options, selector: w.selector, prefix: w.prefix, asked: w.after}
	list, err := l.list()
	if err != nil {
		return nil, err
	}
	var events []Event
	for _, item := range list.Items {
		if w.only == "" || api.Meta(item, "name") == w.only {
			events = append(events, Event{Type: Added, Object: item})
		}
	}
	w.after = int64(list.Version)
	if w.options.Bookmarks {
		mark := w.bookmark()
		annotations := value.Object(value.Member{Name: initialEnd, Value: value.String("true")})
		mark.Object = api.WithMetadata(mark.Object, "annotations", annotations)
		events = append(events, mark)
	}
	return events, nil
}

// bookmark says how far the watch has come.
func (w *watcher) bookmark() Event {
	return Event{Type: Bookmark, Object: value.Object(
		value.Member{Name: "apiVersion", Value: value.String(w.Version.APIVersion())},
		value.Member{Name: "kind", Value: value.String(w.Version.Kind)},
		value.Member{Name: "metadata", Value: value.Object(
			value.Member{Name: "resourceVersion", Value: value.String(strconv.FormatInt(w.after, 10))},
		)},
	)}
}

// follow tells the events of the store until ctx is done.
func (w *watcher) follow(ctx context.Context, yield func([]Event) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	batches, err := w.Store.Watch(ctx, w.prefix, store.Revision(w.after))
	if err != nil {
		return err
	}
	type batch struct {
		store.Batch
		err error
	}
	read := make(chan batch)
	go func() {
		defer close(read)
		for b, err := range batches {
			select {
			case read <- batch{b, err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	marks := time.NewTicker(bookmarkEvery)
	defer marks.Stop()
	for {
		var events []Event
		select {
		case b, open := <-read:
			if !open {
				return nil
			}
			if b.err != nil {
				return b.err
			}
			if events, err = w.events(b.Batch); err != nil {
				return err
			}
		case <-marks.C:
			if w.options.Bookmarks {
				events = []Event{w.bookmark()}
			}
		}
		if len(events) > 0 && !yield(events) {
			return nil
		}
	}
}

// events returns what a batch of the store means to the client.
func (w *watcher) events(b store.Batch) ([]Event, error) {
	var out []Event
	for _, e := range b.Events {
		event, err := w.event(e)
		if err != nil {
			return nil, err
		}
		if event.Type != "" && (w.only == "" || api.Meta(event.Object, "name") == w.only) {
			out = append(out, event)
		}
	}
	w.after = max(w.after, int64(b.Revision))
	return out, nil
}

// event returns what a write means to the client: the zero Event if it is about nothing that is selected.
//
//	before  after   event
//	   -      x     ADDED
//	   x      x     MODIFIED
//	   x      -     DELETED, with what was before, as of the revision of the write
//	   -      -     none
func (w *watcher) event(e store.Event) (Event, error) {
	after, err := w.selected(e.Record, !e.Deleted, false)
	if err != nil {
		return Event{}, err
	}
	was := e.Record
	was.Text = e.Previous
	before, err := w.selected(was, e.Previous != nil, true)
	switch {
	case err != nil || before == nil && after == nil:
		return Event{}, err
	case before == nil:
		return Event{Added, after.whole, after}, nil
	case after == nil:
		return Event{Deleted, before.whole, before}, nil
	}
	return Event{Modified, after.whole, after}, nil
}

// selected returns the object of a record; nil if the watch is not about it.
func (w *watcher) selected(record store.Record, exists, replaced bool) (*shared, error) {
	if !exists {
		return nil, nil
	}
	s, err := w.sharedOf(record, replaced)
	if err != nil || !w.selector.matches(s.live.Content) {
		return nil, err
	}
	return s, nil
}

// failed is the event with which a watch ends.
func (w *watcher) failed(err error) Event {
	status := api.StatusOf(err)
	var gone *store.CompactedError
	if stderrors.As(err, &gone) {
		status = api.StatusOf(&tooOld{w.after, int64(gone.Oldest)})
	}
	object, convErr := structs.From(status)
	if convErr != nil {
		panic(convErr) // a Status is plain data
	}
	return Event{Type: Failed, Object: object}
}

// tooOld says that events after a revision are gone, and which is the oldest after which they are not.
type tooOld struct{ after, oldest int64 }

// Error returns the message.
func (e *tooOld) Error() string {
	return fmt.Sprintf("too old resource version: %d (%d)", e.after, e.oldest)
}

// Status returns what the client is told.
func (e *tooOld) Status() metav1.Status {
	return metav1.Status{
		Status: metav1.StatusFailure, Message: e.Error(), Reason: metav1.StatusReasonExpired, Code: http.StatusGone,
	}
}
