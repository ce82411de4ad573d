package watch

import (
	"context"
	stderrors "errors"
	"time"

	"github.com/deed-project/deed/server/store"
)

// What a watch sends, and when. Each Send brings the client up to date and returns:
//
//	sendInitial     once, the objects at one revision
//	follow          the updates of the broadcaster since then
//	  sendUpdate    its batch, if it continues where the watch is
//	  catchUp       else what the store has since then
//	bookmarkIfDue   the revision of the watch
//
// Invariant, between calls of Send: the client has all events up to w.after, each once and in order. It may have everything up to a later
// revision; see at.

// bookmarkEvery is the interval of bookmarks.
const bookmarkEvery = time.Minute

// lastMark is how long before its end a watch gets the last bookmark, so that the client can resume from there.
const lastMark = 2 * time.Second

// Send calls yield with the events that are due, in pieces that belong together. A piece may be used until yield returns. Send reports whether
// the watch goes on: it does not if yield returned false, the client is gone, or the watch ends. A failure is the last event that is sent. The
// error is that of an event that cannot be encoded.
func (w *Watch) Send(yield func(Chunk) bool) (on bool, err error) {
	send := func(t Chunk) bool { return len(t.Text) == 0 || yield(t) }
	// An error becomes the last event, unless it is that of the client or of an event that cannot be encoded.
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
	if w.over {
		return false, nil
	}
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
//
// It is later than w.after if the store went on without events of the resource.
func (w *Watch) at() store.Revision {
	if w.seen == nil {
		return w.after
	}
	return max(w.after, store.Revision(w.seen.reached.Load()))
}

// follow sends the events of the store up to the latest update of the broadcaster.
//
// It looks at now again after each update, since sending takes time.
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
//
// There are three cases. The watch has everything, the batch begins where the watch is or before, or the watch slept through updates in
// between.
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
//
// It reads a watch of the store of its own, which ends as soon as the revision is reached. The context also ends with the watches of the
// listener, since a client that reads slowly may keep it here.
func (w *Watch) catchUp(ctx context.Context, to store.Revision, yield func(Chunk) bool) (on bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(w.broadcaster.key.end, cancel)()
	// Skip revisions that are known to be quiet: they may be compacted already.
	w.after = w.at()
	batches, err := w.hub.Reader.Store.Watch(ctx, w.feed.Prefix, w.after)
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
//
// When a definition is deleted, its objects are deleted before it is gone, and the broadcaster may stop before it has seen all of that.
func (w *Watch) finish(ctx context.Context, yield func(Chunk) bool) error {
	gone := w.broadcaster.key.version.Gone
	if w.broadcaster.err != nil || w.broadcaster.key.end.Err() != nil || gone == nil || gone.Err() == nil {
		return w.broadcaster.err
	}
	to, err := store.Latest(ctx, w.hub.Reader.Store)
	if err != nil || w.at() >= to {
		return unlessEnded(ctx, err)
	}
	ctx, cancel := context.WithTimeout(ctx, lastMark)
	defer cancel()
	_, err = w.catchUp(ctx, to, yield)
	return err
}

// bookmarkIfDue sends a bookmark if one is due, and reports whether the time of the watch is not over.
//
// The first call sends none, and only plans the next. Calls come when the alarm fires or events are sent, so a bookmark may come a little
// late.
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
	// One timer serves both times. It wakes the watch, and the next Send finds out which of them it was.
	w.alarm.Reset(next.Sub(now))
	return true, nil
}

// untilMark returns the time until the next bookmark. They come often enough for a client that loses its connection, and once shortly before
// the end of the watch.
func (w *Watch) untilMark(now time.Time) time.Duration {
	// Less than lastMark is left: the last bookmark was sent, and the next would come after the end.
	if left := w.until.Sub(now) - lastMark; left > 0 {
		return min(left, bookmarkEvery)
	}
	return bookmarkEvery
}
