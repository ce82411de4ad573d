package server

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"time"

	"github.com/deed-project/deed/server/api"
)

// call is what is known of a request before it is looked at closely.
type call struct {
	method   string
	verb     string     // what it does with a resource, or else the method in lower case
	target   api.Target // what the path names
	resource bool       // the path names a resource, and no document
	timeout  time.Duration
}

func newCall(r *http.Request) *call {
	c := &call{method: r.Method}
	c.target, c.resource = api.ParseTarget(r.URL.Path)
	if c.resource {
		c.verb = verbOf(r, c.target)
	}
	return c
}

// answerWriter remembers the status code of an answer: http.ResponseWriter.
type answerWriter struct {
	http.ResponseWriter
	code int
}

// WriteHeader sets the status code.
func (w *answerWriter) WriteHeader(code int) {
	if w.code == 0 {
		w.code = code
	}
	w.ResponseWriter.WriteHeader(code)
}

// Write writes to the client.
func (w *answerWriter) Write(b []byte) (int, error) {
	if w.code == 0 {
		w.code = http.StatusOK
	}
	return w.ResponseWriter.Write(b)
}

// Hijack takes over the connection, which then is something else than HTTP.
func (w *answerWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	connection, buffer, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil {
		w.code = http.StatusSwitchingProtocols
	}
	return connection, buffer, err
}

// Unwrap returns what is written to, for http.ResponseController.
func (w *answerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

type endKey struct{}

// withEnd returns a context of requests that are told by end when their server is about to stop: those that never end by
// themselves end then.
func withEnd(ctx, end context.Context) context.Context { return context.WithValue(ctx, endKey{}, end) }

// endOf returns what withEnd added, or a context that does not end.
func endOf(ctx context.Context) context.Context {
	if end, ok := ctx.Value(endKey{}).(context.Context); ok {
		return end
	}
	return context.Background()
}
