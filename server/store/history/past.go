package history

import (
	"sync"

	"github.com/deed-project/deed/server/store"
)

// Reads of earlier revisions, and how much memory the history takes. See past for the algorithm.

// stride is the distance between the revisions whose trees are kept as marks.
const stride = 1024

// replaced returns the bytes of text that v replaced or deleted.
func (v version) replaced() int64 {
	if v.before == nil {
		return 0
	}
	return int64(len(v.before.Text))
}

// PastBytes implements store.Sized.
func (s *Store) PastBytes() int64 { return s.now.Load().past }

// Within implements store.Sized.
//
// It goes back from the latest revision and adds up what each write replaced.
func (s *Store) Within(bytes int64) store.Revision {
	now := s.now.Load()
	for i := len(now.versions) - 1; i >= 0; i-- {
		if bytes -= now.versions[i].replaced(); bytes < 0 {
			return now.compacted + store.Revision(i) + 1
		}
	}
	return now.compacted
}

// past finds the trees of revisions before the latest.
//
// The tree of each revision would cost some twenty nodes for every write. The garbage collector would visit all of them again and again,
// which costs far more than the records. So a state keeps only the trees of a few revisions, its marks. Other trees are computed from the
// next mark by undoing writes, the last one first:
//
//	revision   compacted      1024           2048      latest
//	tree           .           mark           mark       tree
//	                      r ◄── undo ──┘
//
// The first read of a revision undoes at most stride writes. A client that reads further pages finds the tree among the last ones that were
// read.
//
// mu guards the ring. No tree is computed while mu is held, so two clients that read the same old revision at once may both compute its
// tree.
type past struct {
	mu   sync.Mutex
	read [pasts]reading // a ring
	next int            // index of the next replacement
}

// pasts is the number of recently read trees that are kept.
const pasts = 16

// reading is the tree of a read. The zero reading is empty.
type reading struct {
	revision store.Revision
	tree     tree
}

// get returns the tree of a revision if it is kept.
func (p *past) get(r store.Revision) (tree, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, kept := range p.read {
		if kept.revision == r {
			return kept.tree, true
		}
	}
	return nil, false
}

// keep stores the tree of a revision in place of the oldest one.
//
// A revision that is kept already keeps its place in the ring.
func (p *past) keep(r store.Revision, t tree) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, kept := range p.read {
		if kept.revision == r {
			return
		}
	}
	p.read[p.next] = reading{r, t}
	p.next = (p.next + 1) % pasts
}

// forget drops the trees of revisions before one.
//
// They can no longer be read, and would keep alive the texts of that time.
func (p *past) forget(before store.Revision) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, kept := range p.read {
		if kept.revision < before {
			p.read[i] = reading{}
		}
	}
}

// at returns the tree of a revision, and the revision. It takes constant time for the latest revision and for recently read ones. For
// others it undoes at most stride writes.
func (s *Store) at(r store.Revision) (tree, store.Revision, error) {
	now := s.now.Load()
	if r == 0 {
		r = now.latest()
	}
	switch {
	case now.closed:
		return nil, 0, store.ErrClosed
	case r < now.compacted:
		return nil, 0, store.ErrCompacted
	case r > now.latest():
		return nil, 0, store.ErrFuture
	case r == now.latest():
		return now.tree, r, nil
	}
	if t, ok := s.past.get(r); ok {
		return t, r, nil
	}
	t := now.treeAt(r)
	s.past.keep(r, t)
	return t, r, nil
}

// firstMark returns the revision of the first mark: the first multiple of stride after the compacted revision.
func (s *state) firstMark() store.Revision { return (s.compacted/stride + 1) * stride }

// treeAt computes the tree of a revision.
//
// r must be at least compacted and less than the latest revision. For example with stride 1024: for r = 1500, the first mark from r on is
// that of 2048, and the versions 2048 to 1501 are undone.
func (s *state) treeAt(r store.Revision) tree {
	t, from := s.tree, s.latest()
	first := s.firstMark()
	// The index of the first mark that is not before r. Without one, begin with the latest tree.
	if i := max(0, (r-first+stride-1)/stride); int(i) < len(s.marks) {
		t, from = s.marks[i], first+i*stride
	}
	versions := s.after(r, from)
	for i := len(versions) - 1; i >= 0; i-- {
		t = versions[i].undo(t)
	}
	return t
}

// undo returns the tree before v, given the tree after v.
//
// It is the inverse of do.
func (v version) undo(t tree) tree {
	switch {
	case v.before != nil:
		return put(t, v.before)
	case v.deleted: // a deletion of an absent record
		return t
	}
	return remove(t, v.entry.Key)
}
