package request

import (
	"context"
	"crypto/tls"
)

// Listener is what a request needs to know of the listener that it came through.
type Listener struct {
	// Closing ends when the listener or the server is about to stop. Long-running requests end then.
	Closing context.Context
	// HasDeadlines tells that each connection has deadlines for the longest request that the server allows.
	HasDeadlines bool
	// TLS is the state of the connection if the listener, and not net/http, ends TLS.
	TLS *tls.ConnectionState
}

type listenerKey struct{}

// WithListener returns a context of the connections of a listener.
func WithListener(ctx context.Context, l Listener) context.Context {
	return context.WithValue(ctx, listenerKey{}, &l)
}

// ListenerOf returns the Listener of a request, nil if the request came through none.
func ListenerOf(ctx context.Context) *Listener {
	l, _ := ctx.Value(listenerKey{}).(*Listener)
	return l
}
