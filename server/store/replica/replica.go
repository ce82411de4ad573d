// Package replica keeps what is derived from the stored objects of a resource, and brings it up to date on demand. So a decision can take
// every write into account without reading all objects.
package replica

import (
	"context"
	"fmt"
	"iter"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// Replica holds a T for each stored object of a resource, as of the last call of CatchUp.
//
// It belongs to one goroutine at a time.
type Replica[T any] struct {
	Prefix string                              // of the objects' keys
	Derive func(object value.Value) (T, error) // from the object as it is stored, without managed fields
	// Added and Removed are called for each T that comes and goes; nil calls nothing. A changed object is removed, and added.
	Added, Removed func(T)

	at store.Revision // 0 before the first read
	of map[string]entry[T]
}

// entry is what an object is, and the revision that wrote the object.
type entry[T any] struct {
	value    T
	revision store.Revision
}

// CatchUp takes all writes into account that are stored when it is called. An error names the key of an object, and leaves the replica as it
// was or between two revisions; the next call goes on.
func (r *Replica[T]) CatchUp(ctx context.Context, s store.Store) error {
	batch, err := store.Changes(ctx, s, r.Prefix, r.at, r.known())
	if err != nil {
		return err
	}
	for _, e := range batch.Events {
		if e.Deleted {
			r.remove(e.Key)
		} else if err := r.put(e.Record); err != nil {
			return err
		}
	}
	r.at = batch.Revision
	return nil
}

// known yields the keys of the objects with their revisions.
func (r *Replica[T]) known() iter.Seq2[string, store.Revision] {
	return func(yield func(string, store.Revision) bool) {
		for key, e := range r.of {
			if !yield(key, e.revision) {
				return
			}
		}
	}
}

// All yields what is derived from each object, in no order.
func (r *Replica[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, e := range r.of {
			if !yield(e.value) {
				return
			}
		}
	}
}

// Get returns what is derived from the object with a key, the zero T if there is none.
func (r *Replica[T]) Get(key string) T { return r.of[key].value }

// Len returns the number of objects.
func (r *Replica[T]) Len() int { return len(r.of) }

// put replaces what was derived from an object.
func (r *Replica[T]) put(record store.Record) error {
	parsed, err := managedfields.ParseObject(record.Text)
	if err != nil {
		return fmt.Errorf("%s: %w", record.Key, err)
	}
	v, err := r.Derive(parsed.Content)
	if err != nil {
		return fmt.Errorf("%s: %w", record.Key, err)
	}
	r.remove(record.Key)
	if r.of == nil {
		r.of = map[string]entry[T]{}
	}
	r.of[record.Key] = entry[T]{v, record.Revision}
	if r.Added != nil {
		r.Added(v)
	}
	return nil
}

// remove forgets an object, if it is known.
func (r *Replica[T]) remove(key string) {
	e, ok := r.of[key]
	if !ok {
		return
	}
	delete(r.of, key)
	if r.Removed != nil {
		r.Removed(e.value)
	}
}
