package watch

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/server/store"
)

// written is a store with one or several events per revision.
type written []store.Event

func (w *written) write(r store.Revision, events int) {
	for range events {
		*w = append(*w, store.Event{Record: store.Record{Key: fmt.Sprint("k", len(*w)), Revision: r}})
	}
}

// after returns the batch after a revision, up to another.
func (w written) after(r, to store.Revision) store.Batch {
	b := store.Batch{Revision: to}
	for _, e := range w {
		if e.Revision > r && e.Revision <= to {
			b.Events = append(b.Events, e)
		}
	}
	return b
}

// printed counts encodings. Keys that end in 3 are no events for the client.
type printed struct {
	n    int
	long int // length of a text
	err  error
}

func (p *printed) print(text []byte, e store.Event) ([]byte, error) {
	if p.err != nil {
		return append(text, "half of"...), p.err
	}
	if e.Key[len(e.Key)-1] == '3' {
		return text, nil
	}
	p.n++
	return append(append(append(text, e.Key...), bytes.Repeat([]byte{'.'}, p.long)...), '\n'), nil
}

// reader is a watch of a feed.
type reader struct {
	at    store.Revision // last revision from the feed
	store store.Revision // last revision from the store
	text  []byte
	parts int
}

// read passes the reader a batch up to a revision, and reports whether the feed had all texts.
func (r *reader) read(t *testing.T, f *feed, all *feeds, w written, to store.Revision, print *printed) bool {
	t.Helper()
	from, b := r.store, w.after(r.store, to)
	r.store = to
	for r.at < to {
		told, next, ok, err := f.read(all, r.at, from, b, print.print)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return false
		}
		if joined := bytes.Join(slices.Collect(told.Events()), nil); !bytes.Equal(joined, told.Text) {
			t.Fatalf("the events are %q, and the text is %q", joined, told.Text)
		}
		if next <= r.at {
			t.Fatalf("from %d to %d", r.at, next)
		}
		r.at, r.text, r.parts = next, append(r.text, told.Text...), r.parts+1
	}
	return true
}

// TestFeed lets readers fall behind by various distances. Each gets every event once, and each event is encoded once for all.
func TestFeed(t *testing.T) {
	random := seeds.Rand(t)
	for range 50 {
		var all feeds
		var w written
		f := all.join(feedKey{printer: "p"}, nil)
		print := &printed{long: random.IntN(pageText / 4)}
		readers := make([]reader, 5)
		for latest := store.Revision(1); latest < 60; latest++ {
			w.write(latest, 1+random.IntN(8)/7)
			for i := range readers {
				if r := &readers[i]; random.IntN(4) == 0 && !r.read(t, f, &all, w, max(r.store, latest-store.Revision(random.IntN(3))), print) {
					t.Fatal("a page is forgotten that nothing took the place of")
				}
			}
		}
		for i := range readers {
			readers[i].read(t, f, &all, w, 59, print)
		}
		want, expected := []byte(nil), &printed{long: print.long}
		for _, e := range w {
			want, _ = expected.print(want, e)
		}
		for _, r := range readers {
			if !bytes.Equal(r.text, want) {
				t.Fatalf("a reader was told %.200q, and not %.200q", r.text, want)
			}
		}
		if print.n != expected.n {
			t.Errorf("%d texts were printed for %d events", print.n, expected.n)
		}
		if all.leave(f); len(all.of) != 0 {
			t.Error("a feed without watches is kept")
		}
	}
}

// TestFeedPieces checks that the events between two reads come in one piece.
func TestFeedPieces(t *testing.T) {
	var all feeds
	var w written
	f := all.join(feedKey{}, nil)
	var r reader
	for i := range 5 {
		for range 20 {
			w.write(store.Revision(len(w)+1), 1)
		}
		if r.read(t, f, &all, w, store.Revision(len(w)), &printed{}); r.parts != i+1 {
			t.Fatalf("%d times 20 events are told in %d parts", i+1, r.parts)
		}
	}
}

// TestFeedForgets checks that feeds keep a bounded number of pages together. A reader behind them is told so; the others go on.
func TestFeedForgets(t *testing.T) {
	var all feeds
	var w written
	slow := all.join(feedKey{prefix: "slow"}, nil)
	quick := all.join(feedKey{prefix: "quick"}, nil)
	print := &printed{long: pageText}
	var behind, ahead, other reader
	w.write(1, 1)
	behind.read(t, slow, &all, w, 1, print)
	ahead.read(t, slow, &all, w, 1, print)
	for r := store.Revision(2); r < 3*maxPages; r++ {
		w.write(r, 1)
		if !other.read(t, quick, &all, w, r, print) {
			t.Fatal("who keeps up is behind")
		}
		if n := len(quick.remembered()) + len(slow.remembered()); n > maxPages {
			t.Fatalf("%d pages are kept", n)
		}
	}
	late := reader{}
	if late.read(t, quick, &all, w, 3*maxPages-1, print) {
		t.Error("who is behind what is left is told of it")
	}
	if !ahead.read(t, slow, &all, w, 3*maxPages-1, print) {
		t.Error("a feed of which everything is forgotten does not begin anew")
	}
	if behind.store = 1; behind.read(t, slow, &all, w, 2*maxPages, print) && !bytes.Equal(behind.text, ahead.text[:len(behind.text)]) {
		t.Error("who is behind missed something")
	}
}

// TestFeedUnprintable checks that an encoding error reaches the readers of the event, and leaves nothing in the feed.
func TestFeedUnprintable(t *testing.T) {
	var all feeds
	var w written
	f := all.join(feedKey{}, nil)
	print := &printed{}
	var r reader
	w.write(1, 1)
	r.read(t, f, &all, w, 1, print)
	w.write(2, 1)
	print.err = errors.New("it cannot be said")
	if _, _, _, err := f.read(&all, 1, 1, w.after(1, 2), print.print); !errors.Is(err, print.err) {
		t.Errorf("the error is %v", err)
	}
	print.err = nil
	if r.read(t, f, &all, w, 2, print); string(r.text) != "k0\nk1\n" {
		t.Errorf("told %q", r.text)
	}
}

// TestUnsentPage releases a page whose text may still be in use. No other watch may get it.
func TestUnsentPage(t *testing.T) {
	page, sent := newPage(), false
	page.releaseIf(&sent)
	for range 10 {
		if newPage() == page {
			t.Error("another watch gets a page whose text may still be in use")
		}
	}
}
