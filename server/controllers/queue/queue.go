// Package queue runs controllers whose work is about one item at a time, such as a namespace. Changes of the store name the items that are
// due. An item that is due twice is worked on once, and never twice at the same time.
package queue

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/deed-project/deed/server/store"
)

// Controller works on items of type T. Its fields are set before Run.
type Controller[T comparable] struct {
	Name    string // in the log
	Store   store.Store
	Sources []Source[T]
	// Work brings one item in line. An error has the item tried again later. The error Later is no failure.
	Work   func(ctx context.Context, item T) error
	Report func(what string, err error)
	// All returns the items that are due after each Interval, whatever the store says. An Interval of 0 is never.
	Interval time.Duration
	All      func() []T
}

// Later is the error of an item that is to be worked on again after a time.
type Later time.Duration

// Error says when.
func (l Later) Error() string { return "again after " + time.Duration(l).String() }

// Source is a prefix of the store whose changes make items due.
type Source[T comparable] struct {
	Prefix string
	// Items returns the items that an event makes due. A record that is there when the controller begins is the event of a put without a
	// previous text.
	Items func(e store.Event) []T
}

const (
	// workers is how many items are worked on at a time, since one may wait for a webhook.
	workers = 5
	// pageSize is the number of records that are read at once in the beginning.
	pageSize = 500
	// firstRetry and lastRetry bound the time between attempts at an item.
	firstRetry, lastRetry = 5 * time.Millisecond, 30 * time.Second
	// followRetry is the time between attempts to follow a store that failed.
	followRetry = 500 * time.Millisecond
)

// Run works until ctx ends.
func (c *Controller[T]) Run(ctx context.Context) {
	due := workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[T](firstRetry, lastRetry))
	defer context.AfterFunc(ctx, due.ShutDown)()
	var running sync.WaitGroup
	defer running.Wait()
	for range workers {
		running.Go(func() { c.work(ctx, due) })
	}
	if c.Interval > 0 {
		running.Go(func() { c.repeat(ctx, due.Add) })
	}
	for _, s := range c.Sources {
		running.Go(func() {
			for ctx.Err() == nil {
				c.Report(c.Name+" does not follow the store", c.follow(ctx, s, due.Add))
				select {
				case <-ctx.Done():
				case <-time.After(followRetry):
				}
			}
		})
	}
}

// repeat has all items worked on from time to time, until ctx ends.
func (c *Controller[T]) repeat(ctx context.Context, add func(T)) {
	ticker := time.NewTicker(c.Interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			for _, item := range c.All() {
				add(item)
			}
		}
	}
}

// work works on items until the queue is shut down.
func (c *Controller[T]) work(ctx context.Context, due workqueue.TypedRateLimitingInterface[T]) {
	for {
		item, down := due.Get()
		if down {
			return
		}
		err := c.Work(ctx, item)
		var later Later
		switch {
		case err == nil:
			due.Forget(item)
		case errors.As(err, &later):
			due.Forget(item)
			due.AddAfter(item, time.Duration(later))
		default:
			c.Report(c.Name, err)
			due.AddRateLimited(item)
		}
		due.Done(item)
	}
}

// follow reads a source, and then its changes, until ctx ends or the store fails.
func (c *Controller[T]) follow(ctx context.Context, s Source[T], add func(T)) error {
	addAll := func(e store.Event) {
		for _, item := range s.Items(e) {
			add(item)
		}
	}
	from := store.Range{Prefix: s.Prefix, Limit: pageSize}
	for {
		page, err := c.Store.Range(ctx, from)
		if err != nil {
			return err
		}
		for _, record := range page.Records {
			addAll(store.Event{Record: record})
		}
		from.At = page.Revision
		if page.Remaining == 0 {
			break
		}
		from.After = page.Records[len(page.Records)-1].Key
	}
	changes, err := c.Store.Watch(ctx, s.Prefix, from.At)
	if err != nil {
		return err
	}
	for batch, err := range changes {
		if err != nil {
			return err
		}
		for _, e := range batch.Events {
			addAll(e)
		}
	}
	return nil
}
