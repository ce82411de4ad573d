package rbac

import (
	"context"
	"errors"
	"fmt"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value/structs"
)

// stored is a copy of the objects of one resource in the store. T is their Go type.
//
// It belongs to one goroutine at a time.
type stored[T any] struct {
	prefix string
	at     store.Revision // of the copy; 0 before the first read
	of     map[string]known[T]
}

// known is an object and the revision that wrote it.
type known[T any] struct {
	object   *T
	revision store.Revision
}

// catchUp reads what was stored since the last call. If the store does not know that, it reads all objects.
func (o *stored[T]) catchUp(ctx context.Context, s store.Store) error {
	if o.at == 0 {
		return o.readAll(ctx, s)
	}
	batch, err := s.Since(ctx, o.prefix, o.at)
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, store.ErrCompacted) {
		return o.readAll(ctx, s)
	}
	if err != nil {
		return err
	}
	for _, e := range batch.Events {
		if e.Deleted {
			delete(o.of, e.Key)
		} else if err := o.put(o.of, e.Record); err != nil {
			return err
		}
	}
	o.at = batch.Revision
	return nil
}

// readAll reads all objects. An object that has the known revision is not parsed again.
func (o *stored[T]) readAll(ctx context.Context, s store.Store) error {
	page, err := s.Range(ctx, store.Range{Prefix: o.prefix})
	if err != nil {
		return err
	}
	of := make(map[string]known[T], len(page.Records))
	for _, record := range page.Records {
		if err := o.put(of, record); err != nil {
			return err
		}
	}
	o.of, o.at = of, page.Revision
	return nil
}

// put adds the object of a record to a map.
func (o *stored[T]) put(to map[string]known[T], r store.Record) error {
	if k, ok := o.of[r.Key]; ok && k.revision == r.Revision {
		to[r.Key] = k
		return nil
	}
	parsed, err := managedfields.ParseObject(r.Text)
	object := new(T)
	if err == nil {
		err = structs.Into(parsed.Content, object)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", r.Key, err)
	}
	to[r.Key] = known[T]{object, r.Revision}
	return nil
}
