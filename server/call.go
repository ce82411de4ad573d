package server

import (
	"bufio"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"

	"github.com/deed-project/deed/server/api"
)

// call is what is known of a request before it is looked at closely.
type call struct {
	client   context.Context // done when the client is gone
	method   string
	verb     string     // what it does with a resource, or else the method in lower case
	target   api.Target // what the path names
	resource bool       // the path names a resource, and no document
	query    url.Values // nil for an empty one
	brief    bool       // it has less time than the whole request might take, because it changes something
	follows  *following // what goes on after the answer has begun; nil but for watches
}

func newCall(r *http.Request) *call {
	c := &call{client: r.Context(), method: r.Method}
	if r.URL.RawQuery != "" {
		c.query = r.URL.Query()
	}
	c.target, c.resource = api.ParseTarget(r.URL.Path)
	if c.resource {
		c.verb = verbOf(r.Method, c.target, c.query)
	}
	return c
}

// stackRoom is such that a stack is of 16 kB when it has grown by that, which is enough for a create.
const stackRoom = 8 << 10

// reserveStack has the stack of a goroutine that just began grow at once. Otherwise it would become full, and double, three times while a
// create is carried out, deeper and deeper in calls, and each time all that is on it is copied frame by frame: 8 % of the instructions of
// a create, and a quarter of those of a get.
//
//go:noinline
func reserveStack() byte {
	var room [stackRoom]byte
	return lastOf(&room)
}

//go:noinline
func lastOf(room *[stackRoom]byte) byte { return room[len(room)-1] }

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

// serving is what requests know of the listener that they came through.
type serving struct {
	end     context.Context      // is done when the listener or the server is about to stop: requests that never end by themselves end then
	limited bool                 // connections have the deadlines of the server's limits for each request
	state   *tls.ConnectionState // of the connection, if the listener ended TLS
}

type servingKey struct{}

func withServing(ctx context.Context, s serving) context.Context {
	return context.WithValue(ctx, servingKey{}, &s)
}

// servingOf returns what withServing added, or that nothing is limited.
func (s *Server) servingOf(ctx context.Context) serving {
	if through, ok := ctx.Value(servingKey{}).(*serving); ok {
		return *through
	}
	return serving{end: s.ctx}
}
