package history

import (
	"container/heap"
	"context"
	"errors"
	"time"

	"github.com/deed-project/deed/server/store"
)

// Records that expire, such as Events. The heap holds keys with revisions, the earliest time on top:
//
//	put a until 5     heap  a@2 5
//	put b until 3     heap  b@3 3, a@2 5
//	put a until 9     heap  b@3 3, a@2 5, a@4 9      a@2 is stale
//	expire at 6       delete b if it is at 3, delete a if it is at 2: the latter fails, because a is at 4
//
// So a write costs a push, and no write searches the heap for what it replaces. The heap needs no text, only the key and the revision.

// expiry is a heap of records with an expiry time. A record that is rewritten or deleted stays in the heap until its time.
type expiry []Change

// add notes the expiry time of a change, if it has one. The caller holds Store.writing.
func (x *expiry) add(c Change) {
	if !c.Until.IsZero() && !c.Deleted {
		heap.Push(x, Change{Record: store.Record{Key: c.Key, Revision: c.Revision}, Until: c.Until})
	}
}

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (x expiry) Len() int           { return len(x) }
func (x expiry) Less(i, j int) bool { return x[i].Until.Before(x[j].Until) }
func (x expiry) Swap(i, j int)      { x[i], x[j] = x[j], x[i] }
func (x *expiry) Push(c any)        { *x = append(*x, c.(Change)) }
func (x *expiry) Pop() any {
	last := len(*x) - 1
	c := (*x)[last]
	// The slot must not keep the key alive.
	(*x)[last] = Change{}
	*x = (*x)[:last]
	return c
}

// due removes and returns the records whose time is not after now.
func (x *expiry) due(now time.Time) []Change {
	var due []Change
	for len(*x) > 0 && !(*x)[0].Until.After(now) {
		due = append(due, heap.Pop(x).(Change))
	}
	return due
}

// Expire implements store.Store. Its cost grows with the number of expired records.
//
// The deletions are ordinary writes that expect a revision. A record that was rewritten or deleted meanwhile is left alone. Expire does not
// hold the lock while it deletes, since each deletion takes it.
func (s *Store) Expire(ctx context.Context, now time.Time) error {
	s.writing.Lock()
	due := s.expiry.due(now)
	s.writing.Unlock()
	for i, c := range due {
		_, err := s.Delete(ctx, c.Key, c.Revision)
		if err != nil && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrConflict) {
			s.putBack(due[i:])
			return err
		}
	}
	return nil
}

// putBack returns records that could not be deleted to the heap, so that the next Expire retries.
func (s *Store) putBack(due []Change) {
	s.writing.Lock()
	defer s.writing.Unlock()
	for _, c := range due {
		heap.Push(&s.expiry, c)
	}
}
