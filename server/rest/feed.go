package rest

import (
	"iter"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/store"
)

// Told is what a watch is told at once: texts of events, one behind the other.
type Told struct {
	Text []byte // nobody may modify it
	More bool   // there is more to tell already

	marks []mark // of the events, whose ends count from base on
	base  int
}

// Events returns the texts of the single events.
func (t Told) Events() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		from := 0
		for _, m := range t.marks {
			if !yield(t.Text[from : m.end-t.base]) {
				return
			}
			from = m.end - t.base
		}
	}
}

// mark is where the text of an event ends, and the revision of its write.
type mark struct {
	revision store.Revision
	end      int
}

// pageText is the length of the text that a page of a feed ends with, and maxPages how many pages are kept of all feeds.
const (
	pageText = 64 << 10
	maxPages = 64
)

// page is a part of a feed, or what one watch is told at once.
type page struct {
	from, to store.Revision // it has the events after the one, up to the other
	text     []byte         // grows at its end only, so that those who read it need no lock
	marks    []mark
}

// pagesOfOne are pages that belong to no feed, to be used again.
var pagesOfOne = sync.Pool{New: func() any { return &page{} }}

// newPage returns an empty page that belongs to no feed. It must be released, see releaseIf.
func newPage() *page { return pagesOfOne.Get().(*page) }

// releaseIf gives the memory of a page back if all that was told reached the client. Otherwise its text may still be on its way, as HTTP/2
// sends it beside the one who writes.
func (p *page) releaseIf(told *bool) {
	if *told && cap(p.text) <= 4*pageText {
		p.empty()
		pagesOfOne.Put(p)
	}
}

func (p *page) empty() { p.text, p.marks = p.text[:0], p.marks[:0] }

// add makes text, which is that of the page with an event more, the text of the page.
func (p *page) add(text []byte, r store.Revision) {
	p.text, p.marks = text, append(p.marks, mark{r, len(text)})
}

// told returns all that is on the page.
func (p *page) told() Told { return Told{Text: p.text, marks: p.marks} }

// after returns what the page has after a revision.
func (p *page) after(r store.Revision) Told {
	i := sort.Search(len(p.marks), func(i int) bool { return p.marks[i].revision > r })
	base := 0
	if i > 0 {
		base = p.marks[i-1].end
	}
	return Told{Text: p.text[base:], marks: p.marks[i:], base: base}
}

// feed is what all watches that ask for the same are told, as text: whichever watch meets an event first prints it, for all of them. What
// comes next to tell a watch is found by its revision, however far the others are.
type feed struct {
	watches atomic.Int32 // that are under way; changes under feeds.mu

	mu    sync.Mutex
	pages []*keptPage // each begins where the one before ends
}

// isShared reports whether there are several watches. A nil feed has one.
func (f *feed) isShared() bool { return f != nil && f.watches.Load() > 1 }

// keptPage is a page until it is forgotten, to make room.
type keptPage struct{ atomic.Pointer[page] }

// feedKey tells what watches ask for.
type feedKey struct {
	version        *catalog.Version
	prefix, only   string
	labels, fields string // the selectors
	printer        string
}

// feeds are those of a server. The zero feeds are none and ready. They are safe for concurrent use.
type feeds struct {
	mu   sync.Mutex
	of   map[feedKey]*feed
	kept [maxPages]*keptPage // in the order in which they were begun, from next on
	next int
}

// join returns the feed of a watch that begins, and what is to be called when it ends.
func (f *feeds) join(key feedKey) (joined *feed, leave func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of == nil {
		f.of = map[feedKey]*feed{}
	}
	joined = f.of[key]
	if joined == nil {
		joined = &feed{}
		f.of[key] = joined
	}
	joined.watches.Add(1)
	return joined, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if joined.watches.Add(-1) == 0 {
			delete(f.of, key)
		}
	}
}

// begin returns a page to keep. The one that was begun first is forgotten, to whichever feed it belongs.
func (f *feeds) begin(p *page) *keptPage {
	k := &keptPage{}
	k.Store(p)
	f.mu.Lock()
	defer f.mu.Unlock()
	if oldest := f.kept[f.next]; oldest != nil {
		oldest.Store(nil)
	}
	f.kept[f.next] = k
	f.next = (f.next + 1) % maxPages
	return k
}

// read returns what the watches of the feed are told after a revision, as far as it is on one page, and up to which revision that is,
// which may be later than that of b. b is a batch of the store that has what follows on the revision; print prints what its events
// mean. It is not ok if the feed has forgotten what comes next: then that has to be printed once more.
//
// Invariant: pages[i].to == pages[i+1].from, and the last page grows.
func (f *feed) read(
	all *feeds, after store.Revision, b store.Batch, print func([]byte, store.Event) ([]byte, error),
) (t Told, to store.Revision, ok bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	pages := f.remembered()
	if n := len(pages); n == 0 || pages[n-1].to < after {
		pages = f.restart(all, after)
	}
	if after < pages[0].from {
		return Told{}, after, false, nil
	}
	if pages, err = f.extend(all, pages, b, print); err != nil {
		f.pages = nil
		return Told{}, after, false, err
	}
	last := len(pages) - 1
	i := sort.Search(last, func(i int) bool { return pages[i].to > after })
	t = pages[i].after(after)
	t.More = i < last || pages[i].to < b.Revision
	return t, pages[i].to, true, nil
}

// remembered returns the pages that are not forgotten, which are the last ones.
func (f *feed) remembered() []*page {
	var pages []*page
	for _, k := range f.pages {
		if p := k.Load(); p != nil {
			pages = append(pages, p)
		}
	}
	f.pages = f.pages[len(f.pages)-len(pages):]
	return pages
}

// restart lets the feed begin after a revision.
func (f *feed) restart(all *feeds, after store.Revision) []*page {
	f.pages = f.pages[:0]
	return f.begin(all, nil, after)
}

// begin adds a page behind others, to the feed too.
func (f *feed) begin(all *feeds, pages []*page, from store.Revision) []*page {
	p := &page{from: from, to: from}
	f.pages = append(f.pages, all.begin(p))
	return append(pages, p)
}

// extend adds the events of a batch that the feed does not have, as far as no more than one page is begun: who reads on comes again.
func (f *feed) extend(
	all *feeds, pages []*page, b store.Batch, print func([]byte, store.Event) ([]byte, error),
) ([]*page, error) {
	p, begun := pages[len(pages)-1], false
	had := p.to
	for _, e := range b.Events {
		if e.Revision <= had {
			continue
		}
		if len(p.text) >= pageText && e.Revision > p.to { // the events of one revision are told at once
			if begun {
				return pages, nil
			}
			pages, begun = f.begin(all, pages, p.to), true
			p = pages[len(pages)-1]
		}
		text, err := print(p.text, e)
		if err != nil {
			return nil, err
		}
		if len(text) > len(p.text) {
			p.add(text, e.Revision)
		}
		p.to = e.Revision
	}
	p.to = max(p.to, b.Revision)
	return pages, nil
}
