package watch

import (
	"iter"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/deed-project/deed/server/store"
)

// Texts of consecutive events with their revisions:
//
//	text    {"type":"ADDED",...}{"type":"MODIFIED",...}{"type":"DELETED",...}
//	marks                      11                     14                    15
//
// A mark is the end of an event. So the events after revision 11 are the text from its end on, found by binary search.

// Chunk is a piece of a watch: the texts of consecutive events.
type Chunk struct {
	Text []byte // shared; must not be modified

	// marks has one element for each event, in the order of the text.
	marks []mark // of the events; their ends count from base
	base  int
}

// Events yields the texts of the single events.
func (t Chunk) Events() iter.Seq[[]byte] {
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

// mark is the end of an event's text, and the revision of its write, or 0.
type mark struct {
	revision store.Revision
	end      int
}

// pageText is the length at which a page of a feed ends. maxPages is the number of pages that all feeds keep together.
const (
	pageText = 64 << 10
	maxPages = 64
)

// page is a part of a feed, or the events that one watch sends together.
//
// A page of a feed grows under feed.mu. Readers hold slices of text and marks as they were, and appending changes no byte of them.
type page struct {
	from, to store.Revision // it has the events after from, up to to
	text     []byte         // only grows at its end, so that readers need no lock
	marks    []mark
}

// pagesOfOne holds idle pages that belong to no feed.
var pagesOfOne = sync.Pool{New: func() any { return &page{} }}

// newPage returns an empty page that belongs to no feed. The caller must release it with releaseIf.
//
// It has no revisions: from and to are of pages in feeds.
func newPage() *page { return pagesOfOne.Get().(*page) }

// releaseIf returns a page to the pool if the client received all of it. Otherwise HTTP/2 may still read the text in another goroutine.
func (p *page) releaseIf(sent *bool) {
	if *sent && cap(p.text) <= 4*pageText {
		p.empty()
		pagesOfOne.Put(p)
	}
}

// empty makes the page ready for other events, in the same memory. No chunk of the page may be in use.
func (p *page) empty() { p.text, p.marks = p.text[:0], p.marks[:0] }

// add sets the text of the page to text, which is the former text with one more event.
func (p *page) add(text []byte, r store.Revision) {
	p.text, p.marks = text, append(p.marks, mark{r, len(text)})
}

// chunk returns the whole page.
func (p *page) chunk() Chunk { return Chunk{Text: p.text, marks: p.marks} }

// after returns the events of the page after a revision.
//
// It is the whole page for a revision before the first event, and an empty chunk for the last one.
func (p *page) after(r store.Revision) Chunk {
	i := sort.Search(len(p.marks), func(i int) bool { return p.marks[i].revision > r })
	base := 0
	if i > 0 {
		base = p.marks[i-1].end
	}
	return Chunk{Text: p.text[base:], marks: p.marks[i:], base: base}
}

// keptPage is a page that is dropped when newer pages need its place.
//
// Its pointer becomes nil then. Readers that have loaded the page go on with it.
type keptPage struct{ atomic.Pointer[page] }
