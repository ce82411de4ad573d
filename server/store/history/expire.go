package history

import (
	"container/heap"
	"context"
	"errors"
	"time"

	"github.com/deed-project/deed/server/store"
)

// expiry is a heap of the records that are to be deleted, by their time. Records that were written
// again or deleted meanwhile stay in it until then.
type expiry []Change

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
	(*x)[last] = Change{}
	*x = (*x)[:last]
	return c
}

// due takes out what is over at a time.
func (x *expiry) due(now time.Time) []Change {
	var due []Change
	for len(*x) > 0 && !(*x)[0].Until.After(now) {
		due = append(due, heap.Pop(x).(Change))
	}
	return due
}

// Expire implements store.Store. It costs the number of records that are over.
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

// putBack lets another Expire delete what this one could not.
func (s *Store) putBack(due []Change) {
	s.writing.Lock()
	defer s.writing.Unlock()
	for _, c := range due {
		heap.Push(&s.expiry, c)
	}
}
