package watch

import (
	"sort"
	"sync"
	"sync/atomic"

	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/store"
)

// Shared texts of events. Watches with the same parameters send the same bytes. So the first one that needs an event encodes it, and the
// others copy the text from a page:
//
//	revisions      11    14 15    17       20        23
//	pages         [ e    e  e ]  [ e       e ]      [ e ... grows
//	from, to      10       15     15       20       20   23
//
//	watch after 14   gets the rest of the first page, then the second one, ...
//	watch after 9    is before the first page, so it encodes for itself
//
// Pages are dropped in the order in which they began, over all feeds: feeds.kept is a ring of the pages that are kept. Dropping a page sets
// its pointer to nil, and the feed notices at its next read. So the memory of all feeds together is bounded, whatever their number.
//
// Lock order: feed.mu, then feeds.mu.

// feed holds the encoded events of all watches with the same parameters. The first watch that needs an event encodes it for all. Each watch
// finds its next text by its own revision, so that no watch waits for another.
type feed struct {
	*subject
	key     feedKey
	watches atomic.Int32 // number of watches; changes under feeds.mu

	mu sync.Mutex
	// pages are the pages of the feed. Some of the first ones may be dropped already.
	pages []*keptPage // each begins where its predecessor ends
}

// isShared reports whether the feed has several watches.
//
// A watch that is alone does not use the feed: it encodes into a page of a pool, and nothing is kept.
func (f *feed) isShared() bool { return f.watches.Load() > 1 }

// feedKey has the parameters of watches that share a feed.
//
// Two watches with equal keys have the same objects and the same encoding. Selectors are compared as text: those that say the same in
// another way have feeds of their own.
type feedKey struct {
	version        *catalog.Version
	prefix, only   string
	labels, fields string // the selectors
	printer        string
}

// feeds is the set of feeds of a server. The zero value is an empty set. It is safe for concurrent use.
//
// A nil place of kept is a page that did not begin yet.
type feeds struct {
	mu   sync.Mutex
	of   map[feedKey]*feed
	kept [maxPages]*keptPage // by begin, from next on
	next int
}

// join returns the feed for a watch of s. A key without a printer name gives a feed of its own. The watch must leave the feed.
func (f *feeds) join(key feedKey, s *subject) *feed {
	f.mu.Lock()
	defer f.mu.Unlock()
	joined := f.of[key]
	if joined == nil {
		joined = &feed{subject: s, key: key}
		// A printer without a name has events that depend on earlier ones. No other watch may join its feed.
		if key.printer != "" {
			f.keep(joined)
		}
	}
	joined.watches.Add(1)
	return joined
}

// keep lets other watches join a feed. The caller holds f.mu.
func (f *feeds) keep(joined *feed) {
	if f.of == nil {
		f.of = map[feedKey]*feed{}
	}
	f.of[joined.key] = joined
}

// leave removes a watch from its feed.
//
// The pages of a feed without watches stay in the ring until newer pages drop them.
func (f *feeds) leave(left *feed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if left.watches.Add(-1) == 0 {
		delete(f.of, left.key)
	}
}

// begin keeps a page, and drops the oldest page of all feeds.
//
// A new page may drop a page that watches still read. They hold the page itself, so they finish with it.
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

// read returns the text after a revision, up to the end of one page, and the revision that it reaches. That may be later than b's. b is a
// batch of the store with the events after from, and from is not later than after. print encodes events. read returns false if the feed has
// dropped the text after the revision; the watch then encodes the events itself.
//
// Invariant: pages[i].to == pages[i+1].from, and only the last page grows.
func (f *feed) read(
	all *feeds, after, from store.Revision, b store.Batch, print func([]byte, store.Event) ([]byte, error),
) (t Chunk, to store.Revision, ok bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	// Is the batch beyond what the feed has? Then it would leave a gap: begin anew where the batch does.
	pages := f.remembered()
	if n := len(pages); n == 0 || pages[n-1].to < from {
		pages = f.restart(all, from)
	}
	// The watch lags behind the feed.
	if after < pages[0].from {
		return Chunk{}, after, false, nil
	}
	if pages, err = f.extend(all, pages, b, print); err != nil {
		// The last page may have events of a batch that was not taken as a whole, so nothing of it is used.
		f.pages = nil
		return Chunk{}, after, false, err
	}
	last := len(pages) - 1
	// The first page that reaches beyond the revision of the watch; the last one otherwise.
	i := sort.Search(last, func(i int) bool { return pages[i].to > after })
	return pages[i].after(after), pages[i].to, true, nil
}

// remembered returns the pages that are not dropped. They are the last ones.
//
// Pages are dropped in order, so those that are left are at the end.
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

// restart empties the feed, so that it begins after a revision.
func (f *feed) restart(all *feeds, from store.Revision) []*page {
	f.pages = f.pages[:0]
	return f.begin(all, nil, from)
}

// begin adds a page after the others.
func (f *feed) begin(all *feeds, pages []*page, from store.Revision) []*page {
	p := &page{from: from, to: from}
	f.pages = append(f.pages, all.begin(p))
	return append(pages, p)
}

// extend adds events of a batch that the feed does not have. It stops when it has begun a page; the reader calls it again for more.
//
// So it writes to at most two pages per call. A reader holds the lock for a short time, and a long batch does not push all pages out of the
// ring before the watches have read them.
func (f *feed) extend(
	all *feeds, pages []*page, b store.Batch, print func([]byte, store.Event) ([]byte, error),
) ([]*page, error) {
	p, begun := pages[len(pages)-1], false
	had := p.to
	for _, e := range b.Events {
		// The feed has the event: another watch was faster.
		if e.Revision <= had {
			continue
		}
		if len(p.text) >= pageText && e.Revision > p.to { // the events of one revision stay on one page
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
		// An event that no selected object is part of has no text, and needs no mark.
		if len(text) > len(p.text) {
			p.add(text, e.Revision)
		}
		p.to = e.Revision
	}
	// The page also covers revisions after its last event that have no events.
	p.to = max(p.to, b.Revision)
	return pages, nil
}
