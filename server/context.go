package server

import (
	"context"
	"sync"
	"time"
)

// requestContext is the context of a request that a user sends, and that may take until a time; the zero time is for ever. The timer
// that ends it begins when somebody waits for the end: most requests are over before anybody does.
//
// Err tells that the time is over whether or not somebody waits.
type requestContext struct {
	context.Context      // of the connection
	user            User // zero until it is known
	deadline        time.Time

	mu     sync.Mutex
	timed  context.Context // Context with the deadline; nil until somebody waits for it
	cancel context.CancelFunc
}

// stop gives back what the context holds, once the request is answered.
func (c *requestContext) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancel != nil {
		c.cancel()
	}
}

// Deadline returns when the context ends.
func (c *requestContext) Deadline() (time.Time, bool) {
	if c.deadline.IsZero() {
		return c.Context.Deadline()
	}
	if earlier, ok := c.Context.Deadline(); ok && earlier.Before(c.deadline) {
		return earlier, true
	}
	return c.deadline, true
}

// Done returns a channel that is closed when the context ends.
func (c *requestContext) Done() <-chan struct{} { return c.ending().Done() }

// ending returns a context that ends when this one does.
func (c *requestContext) ending() context.Context {
	if c.deadline.IsZero() {
		return c.Context
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timed == nil {
		c.timed, c.cancel = context.WithDeadline(c.Context, c.deadline)
	}
	return c.timed
}

// Err returns why the context ended, nil if it did not.
func (c *requestContext) Err() error {
	c.mu.Lock()
	timed := c.timed
	c.mu.Unlock()
	switch {
	case timed != nil:
		return timed.Err()
	case c.Context.Err() != nil:
		return c.Context.Err()
	case !c.deadline.IsZero() && !time.Now().Before(c.deadline):
		return context.DeadlineExceeded
	}
	return nil
}

type userKey struct{}

// Value returns the user, or what the context of the connection has. Contexts that end with this one find what ends it.
func (c *requestContext) Value(key any) any {
	if key == (userKey{}) {
		return &c.user
	}
	c.mu.Lock()
	timed := c.timed
	c.mu.Unlock()
	if timed != nil {
		return timed.Value(key)
	}
	return c.Context.Value(key)
}
