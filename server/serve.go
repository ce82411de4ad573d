package server

import (
	"context"
	"crypto/tls"
	stderrors "errors"
	"net"
	"net/http"
	"time"

	"github.com/deed-project/deed/server/request"
	"github.com/deed-project/deed/server/transport"
)

// Limits of connections; how long requests may take is in [filters.Limits].
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 1 << 20
	// graceful is how long requests may take that are under way when the server ends.
	graceful = 1500 * time.Millisecond
)

// Serve answers the connections that l accepts until ctx is done, with TLS if config is not nil. Then it takes no new ones, ends
// watches, waits a little for requests under way, and returns nil. l is closed when it returns. Serve does not close the server.
//
// Closing is the listener's part: watches of other listeners go on. Requests have the values of ctx but not its end, so that those in
// flight can be answered.
func (s *Server) Serve(ctx context.Context, l net.Listener, config *tls.Config) error {
	end, ended := context.WithCancel(ctx)
	defer ended()
	defer context.AfterFunc(s.background.Context(), ended)()
	// The timeouts are outer bounds, for connections whose requests set no deadlines.
	h := &http.Server{
		Handler: s, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ReadTimeout: s.limits.Request, WriteTimeout: 2 * s.limits.Request, // where a request does not say otherwise, see [filters.WithDeadline]
		ErrorLog:    s.log.HTTP(),
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
		ConnContext: func(of context.Context, c net.Conn) context.Context {
			return request.WithListener(of, request.Listener{Closing: end, HasDeadlines: true, TLS: transport.State(c)})
		},
	}
	if config != nil {
		secure := transport.Listen(l, config, headerTimeout)
		defer secure.End()
		h.Protocols = new(http.Protocols)
		// Protocols without TLS, since the listener ends it.
		h.Protocols.SetHTTP1(true)
		h.Protocols.SetUnencryptedHTTP2(true) // to net/http, as the listener ends TLS
		l = secure
	}
	failed := make(chan error, 1)
	go func() { failed <- h.Serve(l) }()
	select {
	case err := <-failed:
		return stderrors.Join(err, h.Close())
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), graceful)
	defer cancel()
	err := h.Shutdown(ending)
	if stderrors.Is(err, context.DeadlineExceeded) {
		err = nil // that was the time for them
	}
	return stderrors.Join(err, h.Close())
}
