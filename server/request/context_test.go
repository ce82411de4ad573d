package request

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/deed-project/deed/server/auth"
)

// TestRequestContext ends contexts of requests in each way that there is, with and without somebody who waits.
func TestRequestContext(t *testing.T) {
	cause := func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}
	connection, gone := context.WithCancel(context.Background())
	over := &Context{Context: connection, Expires: time.Now()}
	if err := over.Err(); err != context.DeadlineExceeded {
		t.Errorf("when its time is over, nobody waits: %v", err)
	}
	if err := cause(over); err != context.DeadlineExceeded {
		t.Errorf("when its time is over: %v", err)
	}
	waited := &Context{Context: connection, Expires: time.Now().Add(time.Millisecond)}
	if err := cause(waited); err != context.DeadlineExceeded {
		t.Errorf("when its time is over, somebody waits: %v", err)
	}
	within, cancel := context.WithTimeout(&Context{Context: connection, Expires: time.Now().Add(time.Hour)}, time.Millisecond)
	defer cancel()
	if err := cause(within); err != context.DeadlineExceeded {
		t.Errorf("a context within it, when its time is over: %v", err)
	}

	open := &Context{Context: connection, User: auth.User{Name: "jane"}, Expires: time.Now().Add(time.Hour)}
	if at, ok := open.Deadline(); !ok || !at.Equal(open.Expires) || open.Err() != nil || auth.UserOf(open).Name != "jane" {
		t.Errorf("while there is time: %v %v %v %v", at, ok, open.Err(), auth.UserOf(open))
	}
	done := open.Done()
	gone()
	<-done
	endless := &Context{Context: connection}
	for _, ctx := range []context.Context{open, endless, &Context{Context: connection, Expires: open.Expires}} {
		if err := ctx.Err(); err != context.Canceled {
			t.Errorf("when the client is gone: %v", err)
		}
	}
	stopped := &Context{Context: context.Background(), Expires: time.Now().Add(time.Hour)}
	after := make(chan error, 1)
	context.AfterFunc(stopped, func() { after <- stopped.Err() })
	if stopped.Stop(); !errors.Is(<-after, context.Canceled) {
		t.Error("what waits for a request that is answered is not told")
	}
}

// TestWaitingIsAsked takes the time of a request that nobody waits for: no timer begins.
func TestWaitingIsAsked(t *testing.T) {
	ctx := &Context{Context: context.Background(), Expires: time.Now().Add(time.Hour)}
	if ctx.Err() != nil || ctx.Value(auth.ContextKey{}) == nil || ctx.timed != nil {
		t.Error("a timer began")
	}
	ctx.Stop()
}
