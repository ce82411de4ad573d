package request

import (
	"context"
	"sync"
	"time"

	"github.com/deed-project/deed/server/audit"
	"github.com/deed-project/deed/server/auth"
)

// Context is the context of a request. Filters set its fields before the request is carried out; they do not change later.
//
// Context starts the timer of its deadline when Done is first called: most requests are over before that. Err reports a deadline that has
// passed whether or not there is a timer.
type Context struct {
	context.Context // of the connection
	*Info
	User    auth.User     // the zero User until it is authenticated
	Expires time.Time     // the deadline; the zero time is none
	Record  *audit.Record // of the request in the audit log; nil if it is not recorded
	// Unasked tells that admission is not asked whether objects may be deleted.
	Unasked bool

	mu     sync.Mutex
	timed  context.Context // Context with the deadline; nil until the first call of Done
	cancel context.CancelFunc
}

// Stop stops the timer, once the request is answered.
func (c *Context) Stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancel != nil {
		c.cancel()
	}
}

// Deadline returns when the context ends.
func (c *Context) Deadline() (time.Time, bool) {
	if c.Expires.IsZero() {
		return c.Context.Deadline()
	}
	if earlier, ok := c.Context.Deadline(); ok && earlier.Before(c.Expires) {
		return earlier, true
	}
	return c.Expires, true
}

// Done returns a channel that is closed when the context ends.
func (c *Context) Done() <-chan struct{} { return c.ending().Done() }

// ending returns a context that ends when this one does.
func (c *Context) ending() context.Context {
	if c.Expires.IsZero() {
		return c.Context
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timed == nil {
		c.timed, c.cancel = context.WithDeadline(c.Context, c.Expires)
	}
	return c.timed
}

// Err returns why the context ended, nil if it did not.
func (c *Context) Err() error {
	c.mu.Lock()
	timed := c.timed
	c.mu.Unlock()
	switch {
	case timed != nil:
		return timed.Err()
	case c.Context.Err() != nil:
		return c.Context.Err()
	case !c.Expires.IsZero() && !time.Now().Before(c.Expires):
		return context.DeadlineExceeded
	}
	return nil
}

type contextKey struct{}

// From returns the Context of a request, nil for a request that has none.
func From(ctx context.Context) *Context {
	c, _ := ctx.Value(contextKey{}).(*Context)
	return c
}

// As returns a context of requests that a user sends. It has no deadline of its own.
func As(ctx context.Context, u auth.User) *Context { return &Context{Context: ctx, User: u} }

// Value returns the Context itself, its user, or a value of the context of the connection. Contexts that are derived from this one find the
// timer by it.
func (c *Context) Value(key any) any {
	switch key {
	case auth.ContextKey{}:
		return &c.User
	case contextKey{}:
		return c
	}
	c.mu.Lock()
	timed := c.timed
	c.mu.Unlock()
	if timed != nil {
		return timed.Value(key)
	}
	return c.Context.Value(key)
}
