package rest

import (
	"iter"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/deed-project/deed/server/store"
)

// Told is what a watch is told at once: texts of events, one behind the other.
type Told struct {
	Text []byte // nobody may modify it

	marks []mark // of the events, whose ends count from base on
	base  int
	of    *Watch // that is told; nil within a feed
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

// mark is where the text of an event ends, and the revision of its write, 0 for none.
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

// keptPage is a page until it is forgotten, to make room.
type keptPage struct{ atomic.Pointer[page] }
