package controllers

import (
	"context"
	"time"

	"github.com/deed-project/deed/server/store"
)

// retryInterval is the time between attempts to follow a store that failed.
const retryInterval = 500 * time.Millisecond

// Follow calls sync at once and after each change below a prefix of the store, until ctx ends. Servers that share a store learn by it what
// others write. Changes that come while sync runs cause one more call. report gets errors, after which Follow begins again.
func Follow(ctx context.Context, s store.Store, prefix string, sync func(context.Context) error, report func(error)) {
	for ctx.Err() == nil {
		report(followOnce(ctx, s, prefix, sync))
		select {
		case <-ctx.Done():
		case <-time.After(retryInterval):
		}
	}
}

// followOnce follows a prefix until ctx ends, or the store or sync fails.
//
// The watch begins at a revision before the first sync, so that no change between the two is missed. The range is asked for its revision
// alone.
func followOnce(ctx context.Context, s store.Store, prefix string, sync func(context.Context) error) error {
	page, err := s.Range(ctx, store.Range{Prefix: prefix, Limit: 1})
	if err != nil {
		return err
	}
	changes, err := s.Watch(ctx, prefix, page.Revision)
	if err != nil {
		return err
	}
	if err := sync(ctx); err != nil {
		return err
	}
	for batch, err := range changes {
		if err == nil && len(batch.Events) > 0 {
			err = sync(ctx)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
