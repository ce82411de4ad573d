package history

import (
	"sync"

	"github.com/deed-project/deed/server/store"
)

// stride is the distance of the revisions whose trees are marks.
const stride = 1024

// replaced returns how many bytes of text v replaced or deleted.
func (v version) replaced() int64 {
	if v.before == nil {
		return 0
	}
	return int64(len(v.before.Text))
}

// PastBytes implements store.Sized.
func (s *Store) PastBytes() int64 { return s.now.Load().past }

// Within implements store.Sized.
func (s *Store) Within(bytes int64) store.Revision {
	now := s.now.Load()
	for i := len(now.versions) - 1; i >= 0; i-- {
		if bytes -= now.versions[i].replaced(); bytes < 0 {
			return now.compacted + store.Revision(i) + 1
		}
	}
	return now.compacted
}

// past finds the trees of revisions that are not the latest.
//
// To keep the tree of each revision would cost some twenty nodes for every write, which the garbage
// collector visits again and again: much more than the records themselves. So a state keeps the trees
// of few revisions, its marks, and others are worked out from the next one by taking writes back, the
// last one first:
//
//	revision   compacted      1024           2048      latest
//	tree           .           mark           mark       tree
//	                      r ◄── undo ──┘
//
// So the first who reads a revision pays for stride writes at most. Who reads on finds its tree among
// those that were read last.
type past struct {
	mu   sync.Mutex
	read [pasts]reading // in a ring
	next int            // where the next one is put
}

// pasts is how many trees are kept of what was read last.
const pasts = 16

// reading is a tree that was read. The zero reading is none.
type reading struct {
	revision store.Revision
	tree     tree
}

// get returns the tree of a revision if it was kept.
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

// keep keeps the tree of a revision, in place of the one that was kept first.
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
func (p *past) forget(before store.Revision) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, kept := range p.read {
		if kept.revision < before {
			p.read[i] = reading{}
		}
	}
}

// at returns the records at a revision, and which it is. It costs nothing for the latest one and for
// those that were read last, and at most stride writes for others.
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

// firstMark returns the revision of the first mark: the first multiple of stride after the compacted
// revision.
func (s *state) firstMark() store.Revision { return (s.compacted/stride + 1) * stride }

// treeAt works out the tree of a revision.
func (s *state) treeAt(r store.Revision) tree {
	t, from := s.tree, s.latest()
	first := s.firstMark()
	if i := max(0, (r-first+stride-1)/stride); int(i) < len(s.marks) {
		t, from = s.marks[i], first+i*stride
	}
	versions := s.after(r, from)
	for i := len(versions) - 1; i >= 0; i-- {
		t = versions[i].undo(t)
	}
	return t
}

// undo returns the tree before v, given the one after it.
func (v version) undo(t tree) tree {
	switch {
	case v.before != nil:
		return put(t, v.before)
	case v.deleted: // what was not there
		return t
	}
	return remove(t, v.entry.Key)
}
