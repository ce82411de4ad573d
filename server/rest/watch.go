package rest

import (
	"context"
	stderrors "errors"
	"math/rand/v2"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/store"
)

// bookmarkEvery is how often a watch that asks for bookmarks is told how far it has come.
const bookmarkEvery = time.Minute

// lastMark is how long before its end a watch that asks for bookmarks gets one, so that it can be resumed from there.
const lastMark = 2 * time.Second

// longWatch is how long a watch takes at least that says no time; at most it is twice that.
const longWatch = 30 * time.Minute

// Watch tells a client of the objects of a collection, and of what happens to them:
//
//	begin    with what is there, unless the query names a revision to go on from
//	follow   the store; objects that begin or cease to be what the selectors are about come and go
//	mark     how far it has come, if the client takes bookmarks
//
// In between it waits, which is most of its time: so there is not more to it than what tells it apart from others. It is for one
// goroutine at a time, and must be closed. Nobody asks a closed one anything.
type Watch struct {
	client  context.Context // done when it is gone
	feed    *feed
	begins  *lister // reads what is there; nil once that is told, or if nobody wants it
	crowd   *crowd
	place   int            // among the watches of the crowd; guarded by its mu
	seen    *moment        // of the crowd, up to which all is told; nil at first
	after   store.Revision // up to which events were told
	marks   bool           // the client takes bookmarks
	mark    time.Time      // when the next one is due; zero if the first is still to be planned
	until   time.Time
	alarm   *time.Timer // goes off at the earlier of mark and until
	more    chan struct{}
	forget  func() bool // lets the client's end not wake the watch any more
	backend *Backend
}

// Watch returns the watch that a request asks for. It ends when the client is gone, and with end, which all watches that may go on for as
// long have in common.
func (r *Request) Watch(client, end context.Context, p Printer) (*Watch, error) {
	options, err := api.ParseListOptions(r.Query)
	if err != nil {
		return nil, err
	}
	s, err := newSelector(r.Version, options)
	if err != nil {
		return nil, err
	}
	if name, is := options.Fields.RequiresExactMatch("metadata.name"); r.Target.Name != "" && !options.Fields.Empty() &&
		!(is && name == r.Target.Name) {
		return nil, errors.NewBadRequest("fieldSelector metadata.name doesn't match requested name")
	}
	after, err := api.ParseVersion(options.Version, false)
	if err != nil {
		return nil, err
	}
	initial := after == 0
	if options.SendInitialEvents != nil {
		initial = *options.SendInitialEvents
	}
	if !initial && after == 0 { // it is about what happens from now on
		if after, err = r.latest(); err != nil {
			return nil, err
		}
	}
	prefix := r.Version.KeyPrefix(r.Target.Namespace)
	w := &Watch{
		client: client, backend: r.Backend, after: store.Revision(after), marks: options.Bookmarks, more: make(chan struct{}, 1),
	}
	if initial {
		w.begins = &lister{Request: r, options: options, selector: s, prefix: prefix, asked: after}
	}
	limit := options.Timeout
	if limit <= 0 {
		limit = longWatch + rand.N(longWatch)
	}
	w.until = time.Now().Add(limit)
	w.alarm = time.AfterFunc(limit, w.wake)
	w.forget = context.AfterFunc(client, w.wake)
	w.feed = r.feeds.join(feedKey{
		r.Version, prefix, r.Target.Name, options.Labels.String(), options.Fields.String(), p.Name,
	}, &subject{&Request{Backend: r.Backend, Version: r.Version}, s, prefix, r.Target.Name, p})
	r.crowds.join(r.Store, crowdKey{r.Version, end}, w)
	return w, nil
}

// IsList reports whether the watch begins as a list does: with what is there, and with a bookmark behind it. To be asked before the first
// Tell.
func (w *Watch) IsList() bool { return w.begins != nil && w.marks }

// Close gives back what the watch holds. To close it again does nothing.
func (w *Watch) Close() {
	if w.feed == nil {
		return
	}
	w.alarm.Stop()
	w.forget()
	w.backend.crowds.leave(w)
	w.backend.feeds.leave(w.feed)
	w.feed = nil
}

// More returns a channel from which something can be received when there may be something to tell. To wait for one channel only takes
// little of the stack.
func (w *Watch) More() <-chan struct{} { return w.more }

// wake lets a receiver from More go on. It is safe for concurrent use.
func (w *Watch) wake() {
	select {
	case w.more <- struct{}{}:
	default: // it will go on anyway
	}
}

// Tell tells what there is to tell by now, in pieces of what happened together, each to be used until yield returns. It reports whether
// the watch goes on: it does not if yield returned false, the client is gone, or the watch ends. What fails is told as its last event. The
// error is that of an event that cannot be printed.
func (w *Watch) Tell(yield func(Told) bool) (on bool, err error) {
	tell := func(t Told) bool {
		t.of = w
		return len(t.Text) == 0 || yield(t)
	}
	on, err = w.tell(w.client, tell)
	var unsaid *printError
	if err == nil || w.client.Err() != nil || stderrors.As(err, &unsaid) {
		return on && err == nil && w.client.Err() == nil, unless(w.client, err)
	}
	_, err = w.say(failed(err, w.at()), tell)
	return false, err
}

// tell is Tell without what becomes of errors.
func (w *Watch) tell(ctx context.Context, yield func(Told) bool) (on bool, err error) {
	if w.begins != nil {
		if on, err := w.begin(yield); !on || err != nil {
			return false, err
		}
		w.begins = nil
	}
	if on, err := w.follow(ctx, yield); !on || err != nil {
		return false, err
	}
	return w.heed(time.Now(), yield)
}

// at returns the revision up to which the client knows everything.
func (w *Watch) at() store.Revision {
	if w.seen == nil {
		return w.after
	}
	return max(w.after, store.Revision(w.seen.reached.Load()))
}

// follow tells the events of the store up to the latest moment of the crowd.
func (w *Watch) follow(ctx context.Context, yield func(Told) bool) (on bool, err error) {
	for {
		m := w.crowd.now.Load()
		if m == w.seen {
			break
		}
		if on, err := w.take(ctx, m, yield); !on || err != nil {
			return false, err
		}
		w.seen = m
	}
	select {
	case <-w.crowd.over:
		return false, w.finish(ctx, yield)
	default:
		return true, nil
	}
}

// take tells what happened up to a moment: what it has itself, unless the watch missed an earlier one.
func (w *Watch) take(ctx context.Context, m *moment, yield func(Told) bool) (on bool, err error) {
	switch {
	case m.batch.Revision <= w.after:
		return true, nil
	case m.from <= w.after:
		return w.pass(m.from, m.batch, yield)
	}
	return w.catchUp(ctx, m.batch.Revision, yield)
}

// catchUp tells what the store has up to a revision.
func (w *Watch) catchUp(ctx context.Context, to store.Revision, yield func(Told) bool) (on bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(w.crowd.key.end, cancel)()
	w.after = w.at()
	batches, err := w.backend.Store.Watch(ctx, w.feed.prefix, w.after)
	if err != nil {
		return false, unless(ctx, err)
	}
	from := w.after
	for b, err := range batches {
		if err != nil {
			return false, err
		}
		if on, err := w.pass(from, b, yield); !on || err != nil || w.after >= to {
			return on, err
		}
		from = b.Revision
	}
	return false, nil
}

// finish ends the watch, as its crowd is over: it tells what is left if that is because the resource is gone, how its objects went for
// one.
func (w *Watch) finish(ctx context.Context, yield func(Told) bool) error {
	gone := w.crowd.key.version.Gone
	if w.crowd.err != nil || w.crowd.key.end.Err() != nil || gone == nil || gone.Err() == nil {
		return w.crowd.err
	}
	to, err := latest(ctx, w.backend.Store)
	if err != nil || w.at() >= to {
		return unless(ctx, err)
	}
	ctx, cancel := context.WithTimeout(ctx, lastMark)
	defer cancel()
	_, err = w.catchUp(ctx, to, yield)
	return err
}

// heed tells how far the watch has come, if that is due, and reports whether there is time left.
func (w *Watch) heed(now time.Time, yield func(Told) bool) (on bool, err error) {
	if !now.Before(w.until) {
		return false, nil
	}
	if !w.marks || now.Before(w.mark) {
		return true, nil
	}
	if !w.mark.IsZero() {
		if on, err := w.say(bookmark(w.feed.Version, w.at()), yield); !on || err != nil {
			return false, err
		}
	}
	w.mark = now.Add(w.untilMark(now))
	next := w.until
	if w.mark.Before(next) {
		next = w.mark
	}
	w.alarm.Reset(next.Sub(now))
	return true, nil
}

// untilMark returns how long it is until the client is told how far the watch has come: often enough for one that is cut off, and
// shortly before the time of the watch is over.
func (w *Watch) untilMark(now time.Time) time.Duration {
	if left := w.until.Sub(now) - lastMark; left > 0 {
		return min(left, bookmarkEvery)
	}
	return bookmarkEvery
}

// unless returns err, and nil if ctx is done: then it says no more than that.
func unless(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
