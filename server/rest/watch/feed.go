package watch

import (
	"sort"
	"sync"
	"sync/atomic"

	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/store"
)

// feed has the events of all watches that ask for the same, as text. The watch that meets an event first encodes it for all of them. Each
// watch finds its next text by its revision, however far the others are.
type feed struct {
	*subject
	key     feedKey
	watches atomic.Int32 // how many there are; changes under feeds.mu

	mu    sync.Mutex
	pages []*keptPage // each begins where the one before ends
}

// isShared reports whether the feed has several watches.
func (f *feed) isShared() bool { return f.watches.Load() > 1 }

// feedKey is what watches ask for.
type feedKey struct {
	version        *catalog.Version
	prefix, only   string
	labels, fields string // the selectors
	printer        string
}

// feeds is the set of feeds of a server. The zero value is an empty set. It is safe for concurrent use.
type feeds struct {
	mu   sync.Mutex
	of   map[feedKey]*feed
	kept [maxPages]*keptPage // in the order in which they were begun, from next on
	next int
}

// join returns the feed for a watch of s. It is a feed of its own if the key names no printer. The watch must leave the feed.
func (f *feeds) join(key feedKey, s *subject) *feed {
	f.mu.Lock()
	defer f.mu.Unlock()
	joined := f.of[key]
	if joined == nil {
		joined = &feed{subject: s, key: key}
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
func (f *feeds) leave(left *feed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if left.watches.Add(-1) == 0 {
		delete(f.of, left.key)
	}
}

// begin keeps a page. It forgets the oldest page of all feeds.
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

// read returns the text after a revision, as far as it is on one page, and the revision up to which it goes, which may be later than that of
// b. b is a batch of the store with the events after from, which is not later than after. print encodes events. The result is not ok if the
// feed has forgotten the text after the revision: the watch has to encode it once more.
//
// Invariant: pages[i].to == pages[i+1].from, and the last page grows.
func (f *feed) read(
	all *feeds, after, from store.Revision, b store.Batch, print func([]byte, store.Event) ([]byte, error),
) (t Chunk, to store.Revision, ok bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	pages := f.remembered()
	if n := len(pages); n == 0 || pages[n-1].to < from {
		pages = f.restart(all, from)
	}
	if after < pages[0].from {
		return Chunk{}, after, false, nil
	}
	if pages, err = f.extend(all, pages, b, print); err != nil {
		f.pages = nil
		return Chunk{}, after, false, err
	}
	last := len(pages) - 1
	i := sort.Search(last, func(i int) bool { return pages[i].to > after })
	return pages[i].after(after), pages[i].to, true, nil
}

// remembered returns the pages that are not forgotten. They are the last ones.
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

// begin adds a page behind others, and to the feed.
func (f *feed) begin(all *feeds, pages []*page, from store.Revision) []*page {
	p := &page{from: from, to: from}
	f.pages = append(f.pages, all.begin(p))
	return append(pages, p)
}

// extend adds the events of a batch that the feed does not have, until it has begun one page. The reader calls it again for more.
func (f *feed) extend(
	all *feeds, pages []*page, b store.Batch, print func([]byte, store.Event) ([]byte, error),
) ([]*page, error) {
	p, begun := pages[len(pages)-1], false
	had := p.to
	for _, e := range b.Events {
		if e.Revision <= had {
			continue
		}
		if len(p.text) >= pageText && e.Revision > p.to { // the events of one revision stay together
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
