package watch

import (
	"context"
	stderrors "errors"
	"time"

	"github.com/deed-project/deed/server/store"
)

// bookmarkEvery is the interval of bookmarks.
const bookmarkEvery = time.Minute

// lastMark is how long before its end a watch gets the last bookmark, so that the client can resume from there.
const lastMark = 2 * time.Second

// Send calls yield with the events that are due, in pieces that belong together. A piece may be used until yield returns. Send reports whether
// the watch goes on: it does not if yield returned false, the client is gone, or the watch ends. A failure is the last event that is sent. The
// error is that of an event that cannot be encoded.
func (w *Watch) Send(yield func(Chunk) bool) (on bool, err error) {
	send := func(t Chunk) bool { return len(t.Text) == 0 || yield(t) }
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
