package rest

import (
	"context"
	stderrors "errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// bookmarkEvery is how often a watch that asks for bookmarks is told how far it has come.
const bookmarkEvery = time.Minute

// lastMark is how long before its end a watch that asks for bookmarks gets one, so that it can be resumed from there.
const lastMark = 2 * time.Second

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
	// Text appends the text of the object, in place of Object; nil if there is an Object.
	Text func([]byte) []byte
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
// The error comes before the first event; what fails later is an event, the last one. Events may have texts in place of objects if
// texts are wanted. A batch may be used until the next one is asked for.
func (r *Request) Watch(ctx context.Context, texts bool) (iter.Seq[[]Event], error) {
	options, err := api.ParseListOptions(r.Query)
	if err != nil {
		return nil, err
	}
	s, err := newSelector(r.Version, options)
	if err != nil {
		return nil, err
	}
	w := &watcher{Request: r, options: options, selector: s, prefix: r.Version.KeyPrefix(r.Target.Namespace), texts: texts}
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
	texts    bool   // events may have texts in place of objects
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
		on, err := w.begin(yield)
		if err != nil {
			yield([]Event{w.failed(err)})
		}
		if !on || err != nil {
			return
		}
	}
	if err := w.follow(ctx, yield); err != nil && ctx.Err() == nil {
		yield([]Event{w.failed(err)})
	}
}

// errStopped is how a client that takes no more ends a list.
var errStopped = stderrors.New("the client is gone")

// begin tells what is there as events, and marks their end if the client takes bookmarks. It reports whether the client takes more. Of
// what is told it holds no more than a page of records.
func (w *watcher) begin(yield func([]Event) bool) (on bool, err error) {
	l := &lister{Request: w.Request, options: w.options, selector: w.selector, prefix: w.prefix, asked: w.after}
	var events []Event
	collected := 0 // the length of their texts
	end, err := l.each(func(record store.Record, _ *fact) (bool, error) {
		event, err := w.initial(record)
		if err != nil || event.Type == "" {
			return false, err
		}
		events = append(events, event)
		if collected += len(record.Text); collected >= textChunk {
			if !yield(events) {
				return false, errStopped
			}
			events, collected = events[:0], 0
		}
		return true, nil
	})
	if err != nil {
		return false, ignoring(err, errStopped)
	}
	w.after = int64(end.Version)
	if w.options.Bookmarks {
		mark := w.bookmark()
		annotations := value.Object(value.Member{Name: initialEnd, Value: value.String("true")})
		mark.Object = api.WithMetadata(mark.Object, "annotations", annotations)
		events = append(events, mark)
	}
	return len(events) == 0 || yield(events), nil
}

// ignoring returns err, and nil if it is the other one.
func ignoring(err, other error) error {
	if err == other {
		return nil
	}
	return err
}

// initial returns the event of a record that is there when a watch begins: the zero Event if the watch is not about it. It has the
// stored text if texts are wanted and the version shows it as it is.
func (w *watcher) initial(record store.Record) (Event, error) {
	if name := record.Key[strings.LastIndexByte(record.Key, '/')+1:]; w.only != "" && name != w.only {
		return Event{}, nil
	}
	if w.texts && w.selector.inTexts {
		known, err := w.known(record)
		if err != nil {
			return Event{}, err
		}
		if known != nil && !w.selector.matchesText(&inText{record, known}) {
			return Event{}, nil
		}
		if known != nil {
			return Event{Type: Added, Text: func(b []byte) []byte { return known.appendTo(b, record.Text, record.Revision, false) }}, nil
		}
	}
	o, err := w.read(record)
	if err != nil || !w.selector.matches(o.Content) {
		return Event{}, err
	}
	whole, err := o.document()
	return Event{Type: Added, Object: whole}, err
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

// follow tells the events of the store until ctx is done, and marks in between.
func (w *watcher) follow(ctx context.Context, yield func([]Event) bool) error {
	for {
		on, err := w.listen(ctx, yield)
		switch {
		case !on || err != nil || ctx.Err() != nil:
			return err
		case w.Version.Gone != nil && w.Version.Gone.Err() != nil:
			return w.drain(ctx, yield)
		case !yield([]Event{w.bookmark()}):
			return nil
		}
	}
}

// drain tells the events up to now: those of the objects that went with a resource, for one.
func (w *watcher) drain(ctx context.Context, yield func([]Event) bool) error {
	latest, err := w.latest()
	if err != nil || w.after >= latest {
		return unless(ctx, err)
	}
	ctx, cancel := context.WithTimeout(ctx, lastMark)
	defer cancel()
	_, err = w.tell(ctx, func(events []Event) bool {
		return (len(events) == 0 || yield(events)) && w.after < latest
	})
	return err
}

// listen tells the events of the store until a bookmark is due, or the resource is gone. It reports whether the client takes more.
func (w *watcher) listen(ctx context.Context, yield func([]Event) bool) (on bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if w.Version.Gone != nil {
		defer context.AfterFunc(w.Version.Gone, cancel)()
	}
	if w.options.Bookmarks {
		defer time.AfterFunc(w.untilMark(ctx), cancel).Stop()
	}
	return w.tell(ctx, func(events []Event) bool { return len(events) == 0 || yield(events) })
}

// tell calls take with what batches of the store mean to the client, until ctx is done or take returns false: it returns whether that
// did not happen.
func (w *watcher) tell(ctx context.Context, take func([]Event) bool) (on bool, err error) {
	batches, err := w.Store.Watch(ctx, w.prefix, store.Revision(w.after))
	if err != nil {
		return ctx.Err() != nil, unless(ctx, err)
	}
	for b, err := range batches {
		var events []Event
		if err == nil {
			events, err = w.events(b)
		}
		if err != nil {
			return false, err
		}
		if !take(events) {
			return false, nil
		}
	}
	return true, nil
}

// unless returns err, and nil if ctx is done: then it says no more than that.
func unless(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// untilMark returns how long it is until the client is told how far the watch has come: often enough for one that is cut off, and
// shortly before the time of the watch is over.
func (w *watcher) untilMark(ctx context.Context) time.Duration {
	if end, ok := ctx.Deadline(); ok {
		if left := time.Until(end) - lastMark; left > 0 {
			return min(left, bookmarkEvery)
		}
	}
	return bookmarkEvery
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
		return Event{Type: Added, Object: after.whole, Shared: after}, nil
	case after == nil:
		return Event{Type: Deleted, Object: before.whole, Shared: before}, nil
	}
	return Event{Type: Modified, Object: after.whole, Shared: after}, nil
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
