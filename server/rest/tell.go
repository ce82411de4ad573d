package rest

import (
	stderrors "errors"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// initialEnd marks the bookmark that follows the objects which were there when the watch began.
const initialEnd = "k8s.io/initial-events-end"

// errStopped is how a client that takes no more ends what tells it of many things.
var errStopped = stderrors.New("the client is gone")

// begin tells what is there as events, and marks their end if the client takes bookmarks. It reports whether the client takes more. Of
// what is told it holds no more than a page of records.
func (w *Watch) begin(yield func(Told) bool) (on bool, err error) {
	p := newPage()
	defer p.releaseIf(&on)
	end, err := w.begins.each(func(record store.Record, known *fact) (bool, error) {
		event, err := w.feed.initial(record, known)
		if err != nil || event.Type == "" {
			return false, err
		}
		return true, w.add(p, event, record.Revision, yield)
	})
	if err != nil {
		return false, ignoring(err, errStopped)
	}
	w.after = end.Version
	if w.marks {
		mark := bookmark(w.feed.Version, w.after)
		annotations := value.Object(value.Member{Name: initialEnd, Value: value.String("true")})
		mark.Object = api.WithMetadata(mark.Object, "annotations", annotations)
		if err := w.add(p, mark, 0, yield); err != nil {
			return false, ignoring(err, errStopped)
		}
	}
	return yield(p.told()), nil
}

// pass tells what a batch of the store, which has the events after a revision, means to the client: in the words in which others are
// told of it if there are any. It reports whether the client takes more.
func (w *Watch) pass(from store.Revision, b store.Batch, yield func(Told) bool) (on bool, err error) {
	for w.feed.isShared() && w.after < b.Revision {
		t, to, ok, err := w.feed.read(&w.backend.feeds, w.after, from, b, w.feed.printWrite)
		if err != nil {
			return false, err
		}
		if !ok {
			break
		}
		w.after = to
		if !yield(t) {
			return false, nil
		}
	}
	if w.after >= b.Revision {
		return true, nil
	}
	return w.passAlone(b, yield)
}

// passAlone is pass for what nobody else is told, or was told too long ago.
func (w *Watch) passAlone(b store.Batch, yield func(Told) bool) (on bool, err error) {
	p := newPage()
	defer p.releaseIf(&on)
	for _, e := range b.Events {
		if e.Revision <= w.after {
			continue
		}
		event, err := w.feed.event(e)
		if err == nil {
			err = w.add(p, event, e.Revision, yield)
		}
		if err != nil {
			return false, ignoring(err, errStopped)
		}
	}
	w.after = b.Revision
	return yield(p.told()), nil
}

// say tells one event. It reports whether the client takes more.
func (w *Watch) say(e Event, yield func(Told) bool) (on bool, err error) {
	p := newPage()
	defer p.releaseIf(&on)
	if err := w.add(p, e, 0, yield); err != nil {
		return false, ignoring(err, errStopped)
	}
	return yield(p.told()), nil
}

// textChunk is how much text of what is there is told at once.
const textChunk = 64 << 10

// add adds an event to a page, and tells and empties it if it is full. The revision is that of the write that the event is about, 0 for
// none. The error is errStopped, or that of printing.
func (w *Watch) add(p *page, e Event, revision store.Revision, yield func(Told) bool) error {
	text, err := w.feed.print(p.text, e)
	if err != nil || len(text) == len(p.text) {
		return err
	}
	p.add(text, revision)
	if len(p.text) < textChunk {
		return nil
	}
	if !yield(p.told()) {
		return errStopped
	}
	p.empty()
	return nil
}

// ignoring returns err, and nil if it is the other one.
func ignoring(err, other error) error {
	if err == other {
		return nil
	}
	return err
}
