package watch

import (
	"encoding/binary"
	stderrors "errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/rest/read"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// How events reach the client: encoded for several watches in a feed, or for this watch alone in a page from the pool. Both ways yield
// chunks. A yield that returns false means that the client takes no more, and ends everything.

// errStopped ends a loop over events once the client takes no more.
var errStopped = stderrors.New("the client is gone")

// sendInitial sends the existing objects as events. If the watch is a list, it sends a bookmark after them. It reports whether the client
// is still there. It holds one page of records.
//
// All events of it are at one revision, from which the watch then goes on. The annotation of the bookmark tells the client that its list is
// complete, as kube-apiserver's streaming lists do.
func (w *Watch) sendInitial(yield func(Chunk) bool) (on bool, err error) {
	p := newPage()
	defer p.releaseIf(&on)
	at, err := w.initial.Each(func(event read.Event, revision store.Revision) error { return w.add(p, event, revision, yield) })
	if err != nil {
		return false, ignoring(err, errStopped)
	}
	w.after = at
	if w.isList {
		mark := bookmark(w.feed.Version, w.after)
		annotations := mark.Object.Get("metadata", "annotations")
		if annotations.IsAbsent() {
			annotations = value.Object()
		}
		mark.Object = api.WithMetadata(mark.Object, "annotations", annotations.With(metav1.InitialEventsAnnotationKey, value.String("true")))
		if err := w.add(p, mark, 0, yield); err != nil {
			return false, ignoring(err, errStopped)
		}
	}
	return yield(p.chunk()), nil
}

// sendBatch sends the events of a batch of the store after a revision. Watches with the same parameters share the texts. It reports whether
// the client is still there.
func (w *Watch) sendBatch(from store.Revision, b store.Batch, yield func(Chunk) bool) (on bool, err error) {
	// A read gives one page, so a long batch takes several. If the feed has dropped the page, the watch goes on alone.
	for w.feed.isShared() && w.after < b.Revision {
		t, to, ok, err := w.feed.read(&w.hub.feeds, w.after, from, b, w.feed.printWrite)
		if err != nil {
			return false, err
		}
		if !ok {
			break
		}
		// Advance before the client takes the text: if it does not, the watch ends.
		w.after = to
		if !yield(t) {
			return false, nil
		}
	}
	if w.after >= b.Revision {
		return true, nil
	}
	return w.sendAlone(b, yield)
}

// sendAlone encodes and sends the events of a batch for which the feed has no text: no other watch has the same parameters, or the feed has
// dropped the text.
//
// A batch may begin before the revision of the watch, so events that it has sent are skipped.
func (w *Watch) sendAlone(b store.Batch, yield func(Chunk) bool) (on bool, err error) {
	p := newPage()
	defer p.releaseIf(&on)
	for _, e := range b.Events {
		if e.Revision <= w.after {
			continue
		}
		event, err := w.feed.Event(e)
		if err == nil {
			err = w.add(p, event, e.Revision, yield)
		}
		if err != nil {
			return false, ignoring(err, errStopped)
		}
	}
	w.after = b.Revision
	return yield(p.chunk()), nil
}

// sendOne sends one event, and reports whether the client is still there.
//
// The event has no revision of a write, so no other watch shares its text.
func (w *Watch) sendOne(e read.Event, yield func(Chunk) bool) (on bool, err error) {
	p := newPage()
	defer p.releaseIf(&on)
	if err := w.add(p, e, 0, yield); err != nil {
		return false, ignoring(err, errStopped)
	}
	return yield(p.chunk()), nil
}

// textChunk is the chunk length of initial events.
const textChunk = 64 << 10

// add adds an event to a page. It sends and empties a full page. revision is that of the event's write, or 0. The error is errStopped, or
// that of the printer.
func (w *Watch) add(p *page, e read.Event, revision store.Revision, yield func(Chunk) bool) error {
	text, err := w.feed.print(p.text, e)
	// The zero Event has no text.
	if err != nil || len(text) == len(p.text) {
		return err
	}
	p.add(text, revision)
	if len(p.text) < textChunk {
		return nil
	}
	if !yield(p.chunk()) {
		return errStopped
	}
	p.empty()
	return nil
}

// ignoring returns err, or nil if err is other.
func ignoring(err, other error) error {
	if err == other {
		return nil
	}
	return err
}

// Encoded returns what encode makes of the text of a chunk that the watch sends, once for all watches that send the same. The result is
// shared and must not be modified.
//
// encode must always make the same of the same text.
func (w *Watch) Encoded(t Chunk, encode func(text []byte) []byte) []byte {
	key, ok := w.keyOf(t)
	if !ok {
		return encode(t.Text)
	}
	return w.hub.pieces.made(key, t.Text, encode)
}

// keyOf returns the key of a chunk. It is not ok if no other watch seems to send the same: bookmarks and errors have no revision of their
// own.
func (w *Watch) keyOf(t Chunk) (key pieceKey, ok bool) {
	if w.feed.key.printer == "" || !w.feed.isShared() {
		return key, false
	}
	revisions := make([]byte, 0, 8*len(t.marks))
	for _, m := range t.marks {
		if m.revision == 0 {
			return key, false
		}
		revisions = binary.LittleEndian.AppendUint64(revisions, uint64(m.revision))
	}
	return pieceKey{w.feed.key, w.initial != nil, string(revisions)}, true
}
