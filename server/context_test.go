package server

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestRequestContext ends contexts of requests in each way that there is, with and without somebody who waits.
func TestRequestContext(t *testing.T) {
	cause := func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}
	connection, gone := context.WithCancel(context.Background())
	over := &requestContext{Context: connection, deadline: time.Now()}
	if err := over.Err(); err != context.DeadlineExceeded {
		t.Errorf("when its time is over, nobody waits: %v", err)
	}
	if err := cause(over); err != context.DeadlineExceeded {
		t.Errorf("when its time is over: %v", err)
	}
	waited := &requestContext{Context: connection, deadline: time.Now().Add(time.Millisecond)}
	if err := cause(waited); err != context.DeadlineExceeded {
		t.Errorf("when its time is over, somebody waits: %v", err)
	}
	within, cancel := context.WithTimeout(&requestContext{Context: connection, deadline: time.Now().Add(time.Hour)}, time.Millisecond)
	defer cancel()
	if err := cause(within); err != context.DeadlineExceeded {
		t.Errorf("a context within it, when its time is over: %v", err)
	}

	open := &requestContext{Context: connection, user: User{Name: "jane"}, deadline: time.Now().Add(time.Hour)}
	if at, ok := open.Deadline(); !ok || !at.Equal(open.deadline) || open.Err() != nil || UserOf(open).Name != "jane" {
		t.Errorf("while there is time: %v %v %v %v", at, ok, open.Err(), UserOf(open))
	}
	done := open.Done()
	gone()
	<-done
	endless := &requestContext{Context: connection}
	for _, ctx := range []context.Context{open, endless, &requestContext{Context: connection, deadline: open.deadline}} {
		if err := ctx.Err(); err != context.Canceled {
			t.Errorf("when the client is gone: %v", err)
		}
	}
	stopped := &requestContext{Context: context.Background(), deadline: time.Now().Add(time.Hour)}
	after := make(chan error, 1)
	context.AfterFunc(stopped, func() { after <- stopped.Err() })
	if stopped.stop(); !errors.Is(<-after, context.Canceled) {
		t.Error("what waits for a request that is answered is not told")
	}
}

// TestWaitingIsAsked takes the time of a request that nobody waits for: no timer begins.
func TestWaitingIsAsked(t *testing.T) {
	ctx := &requestContext{Context: context.Background(), deadline: time.Now().Add(time.Hour)}
	if ctx.Err() != nil || ctx.Value(userKey{}) == nil || ctx.timed != nil {
		t.Error("a timer began")
	}
	ctx.stop()
}
