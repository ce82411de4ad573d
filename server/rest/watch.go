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

// Printer prints events as a client wants them.
type Printer struct {
	Name  string // printers of one name print the same; "" for one that prints as no other does
	Texts bool   // events may have texts in place of objects
	Print func(text []byte, e Event) ([]byte, error)
}

// Watch returns what a client is told of a collection from the revision that the query names, in pieces of what happened together,
// until ctx is done.
//
//	options  of the query
//	begin    with what is there, unless the query names a revision to go on from
//	follow   the store; objects that begin or cease to be what the selectors are about come and go
//	mark     how far the watch has come, if the client takes bookmarks
//
// The error comes before the first event. What fails later is an event, the last one, or if an event cannot be printed, the error of
// that. A piece may be used until the next one is asked for.
func (r *Request) Watch(ctx context.Context, p Printer) (iter.Seq2[Told, error], error) {
	options, err := api.ParseListOptions(r.Query)
	if err != nil {
		return nil, err
	}
	s, err := newSelector(r.Version, options)
	if err != nil {
		return nil, err
	}
	w := &watcher{Request: r, options: options, selector: s, prefix: r.Version.KeyPrefix(r.Target.Namespace), printer: p}
	if w.after, err = api.ParseVersion(options.Version, false); err != nil {
		return nil, err
	}
	if r.Target.Name != "" {
		w.only = r.Target.Name
	}
	return func(yield func(Told, error) bool) {
		if err := w.run(ctx, func(t Told) bool { return len(t.Text) == 0 || yield(t, nil) }); err != nil {
			yield(Told{}, err)
		}
	}, nil
}

// watcher is a watch under way.
type watcher struct {
	*Request
	options  api.ListOptions
	selector *selector
	prefix   string
	only     string // the name of the only object that it is about, "" for all
	after    int64  // the revision up to which events were told
	printer  Printer
	feed     *feed // what others are told as well; nil if it has a printer of its own
}

// run calls yield with what the client is told, which may be nothing. The error is that of an event that cannot be printed.
func (w *watcher) run(ctx context.Context, yield func(Told) bool) error {
	limit := w.options.Timeout
	if limit <= 0 {
		limit = longWatch + rand.N(longWatch)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer w.join()()
	_, err := w.tellAll(ctx, yield)
	var unsaid *printError
	if err == nil || ctx.Err() != nil || stderrors.As(err, &unsaid) {
		return unless(ctx, err)
	}
	_, err = w.say(w.failed(err), yield)
	return err
}

// join makes the watch one of those that ask for the same; what it returns ends that.
func (w *watcher) join() (leave func()) {
	if w.printer.Name == "" {
		return func() {}
	}
	w.feed, leave = w.feeds.join(feedKey{
		w.Version, w.prefix, w.only, w.options.Labels.String(), w.options.Fields.String(), w.printer.Name,
	})
	return leave
}

// tellAll tells what is there, unless the client knows, and what happens from then on. It reports whether the client takes more.
func (w *watcher) tellAll(ctx context.Context, yield func(Told) bool) (on bool, err error) {
	initial := w.after == 0
	if w.options.SendInitialEvents != nil {
		initial = *w.options.SendInitialEvents
	}
	if initial {
		if on, err := w.begin(yield); !on || err != nil {
			return on, err
		}
	}
	return w.follow(ctx, yield)
}

// errStopped is how a client that takes no more ends what tells it of many things.
var errStopped = stderrors.New("the client is gone")

// printError is that of an event that cannot be printed.
type printError struct{ error }

// Unwrap returns why.
func (e *printError) Unwrap() error { return e.error }

// begin tells what is there as events, and marks their end if the client takes bookmarks. It reports whether the client takes more. Of
// what is told it holds no more than a page of records.
func (w *watcher) begin(yield func(Told) bool) (on bool, err error) {
	l := &lister{Request: w.Request, options: w.options, selector: w.selector, prefix: w.prefix, asked: w.after}
	p := newPage()
	defer p.releaseIf(&on)
	end, err := l.each(func(record store.Record, known *fact) (bool, error) {
		event, err := w.initial(record, known)
		if err != nil || event.Type == "" {
			return false, err
		}
		return true, w.add(p, event, yield)
	})
	if err != nil {
		return false, ignoring(err, errStopped)
	}
	w.after = int64(end.Version)
	if w.options.Bookmarks {
		mark := w.bookmark()
		annotations := value.Object(value.Member{Name: initialEnd, Value: value.String("true")})
		mark.Object = api.WithMetadata(mark.Object, "annotations", annotations)
		if err := w.add(p, mark, yield); err != nil {
			return false, ignoring(err, errStopped)
		}
	}
	return yield(p.told()), nil
}

// textChunk is how much text of what is there is told at once.
const textChunk = 64 << 10

// add adds an event to a page, and tells and empties it if it is full. The error is errStopped, or that of printing.
func (w *watcher) add(p *page, e Event, yield func(Told) bool) error {
	text, err := w.printer.Print(p.text, e)
	if err != nil {
		return &printError{err}
	}
	p.add(text, 0)
	if len(p.text) < textChunk {
		return nil
	}
	t := p.told()
	t.More = true
	if !yield(t) {
		return errStopped
	}
	p.empty()
	return nil
}

// say tells one event. It reports whether the client takes more.
func (w *watcher) say(e Event, yield func(Told) bool) (on bool, err error) {
	p := newPage()
	defer p.releaseIf(&on)
	if err := w.add(p, e, yield); err != nil {
		return false, ignoring(err, errStopped)
	}
	return yield(p.told()), nil
}

// ignoring returns err, and nil if it is the other one.
func ignoring(err, other error) error {
	if err == other {
		return nil
	}
	return err
}

// initial returns the event of a record that is there when a watch begins: the zero Event if the watch is not about it. It has the
// stored text if texts are wanted and the version shows it as it is. What is known of the record comes with it, see lister.each.
func (w *watcher) initial(record store.Record, known *fact) (_ Event, err error) {
	if name := record.Key[strings.LastIndexByte(record.Key, '/')+1:]; w.only != "" && name != w.only {
		return Event{}, nil
	}
	if known == nil && w.printer.Texts && w.selector.inTexts {
		if known, err = w.known(record); err != nil {
			return Event{}, err
		}
		if known != nil && !w.selector.matchesText(&inText{record, known}) {
			return Event{}, nil
		}
	}
	if known != nil && w.printer.Texts {
		return Event{Type: Added, Text: func(b []byte) []byte { return known.appendTo(b, record.Text, record.Revision, false) }}, nil
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

// follow tells the events of the store until ctx is done, and marks in between. It reports whether the client takes more.
func (w *watcher) follow(ctx context.Context, yield func(Told) bool) (on bool, err error) {
	for {
		on, err := w.listen(ctx, yield)
		switch {
		case !on || err != nil || ctx.Err() != nil:
			return on, err
		case w.Version.Gone != nil && w.Version.Gone.Err() != nil:
			return w.drain(ctx, yield)
		}
		if on, err := w.say(w.bookmark(), yield); !on || err != nil {
			return on, err
		}
	}
}

// drain tells the events up to now: those of the objects that went with a resource, for one.
func (w *watcher) drain(ctx context.Context, yield func(Told) bool) (on bool, err error) {
	latest, err := w.latest()
	if err != nil || w.after >= latest {
		return err == nil, unless(ctx, err)
	}
	ctx, cancel := context.WithTimeout(ctx, lastMark)
	defer cancel()
	return w.tell(ctx, func(t Told) bool { return yield(t) && w.after < latest })
}

// listen tells the events of the store until a bookmark is due, or the resource is gone. It reports whether the client takes more.
func (w *watcher) listen(ctx context.Context, yield func(Told) bool) (on bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if w.Version.Gone != nil {
		defer context.AfterFunc(w.Version.Gone, cancel)()
	}
	if w.options.Bookmarks {
		defer time.AfterFunc(w.untilMark(ctx), cancel).Stop()
	}
	return w.tell(ctx, yield)
}

// tell tells what batches of the store mean to the client, until ctx is done or yield returns false: it returns whether that did not
// happen.
func (w *watcher) tell(ctx context.Context, yield func(Told) bool) (on bool, err error) {
	batches, err := w.Store.Watch(ctx, w.prefix, store.Revision(w.after))
	if err != nil {
		return ctx.Err() != nil, unless(ctx, err)
	}
	for b, err := range batches {
		if err != nil {
			return false, err
		}
		if on, err := w.pass(b, yield); !on || err != nil {
			return false, err
		}
	}
	return true, nil
}

// pass tells what a batch of the store means to the client, in the words in which others are told of it if there are any. It reports
// whether the client takes more.
func (w *watcher) pass(b store.Batch, yield func(Told) bool) (on bool, err error) {
	for w.feed.isShared() && w.after < int64(b.Revision) {
		t, to, ok, err := w.feed.read(&w.feeds, store.Revision(w.after), b, w.print)
		if err != nil {
			return false, err
		}
		if !ok {
			break
		}
		w.after = int64(to)
		if !yield(t) {
			return false, nil
		}
	}
	if w.after >= int64(b.Revision) {
		return true, nil
	}
	return w.passAlone(b, yield)
}

// passAlone is pass for what nobody else is told, or was told too long ago.
func (w *watcher) passAlone(b store.Batch, yield func(Told) bool) (on bool, err error) {
	p := newPage()
	defer p.releaseIf(&on)
	for _, e := range b.Events {
		if int64(e.Revision) <= w.after {
			continue
		}
		event, err := w.event(e)
		if err == nil && event.Type != "" {
			err = w.add(p, event, yield)
		}
		if err != nil {
			return false, ignoring(err, errStopped)
		}
	}
	w.after = int64(b.Revision)
	return yield(p.told()), nil
}

// print appends what a write means to the client.
func (w *watcher) print(text []byte, e store.Event) ([]byte, error) {
	event, err := w.event(e)
	if err != nil || event.Type == "" {
		return text, err
	}
	if text, err = w.printer.Print(text, event); err != nil {
		return text, &printError{err}
	}
	return text, nil
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

// event returns what a write means to the client: the zero Event if it is about nothing that is selected.
//
//	before  after   event
//	   -      x     ADDED
//	   x      x     MODIFIED
//	   x      -     DELETED, with what was before, as of the revision of the write
//	   -      -     none
func (w *watcher) event(e store.Event) (Event, error) {
	if w.only != "" && e.Key[strings.LastIndexByte(e.Key, '/')+1:] != w.only {
		return Event{}, nil
	}
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
