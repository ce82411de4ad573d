package filters

import (
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/deed-project/deed/server/request"
)

// Bounds of the rest of a body that WithBodyRead reads.
const (
	maxBodyRest     = 64 << 20
	bodyRestTimeout = 5 * time.Second
)

// WithBodyRead reads the rest of the body of an HTTP/2 request before the answer ends. Otherwise net/http resets the stream behind the
// answer, and a client that is still sending, such as curl 7.88, loses the answer.
//
// An answer that goes on after the filters, such as a watch, has no body to read.
func WithBodyRead(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 || r.Body == nil || r.Body == http.NoBody || r.ContentLength > maxBodyRest {
			next(w, r)
			return
		}
		sent := &body{ReadCloser: r.Body}
		r.Body = sent
		defer func() {
			if request.From(r.Context()).After == nil && !sent.ended.Load() {
				sent.readRest(w)
			}
		}()
		next(w, r)
	}
}

// body is the body of a request. ended tells that a read came to its end: a proxy may read it in another goroutine.
type body struct {
	io.ReadCloser
	ended atomic.Bool
}

// Read reads the next part of the body.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		b.ended.Store(true)
	}
	return n, err
}

// readRest reads and drops the rest of the body, within bounds of bytes and time.
func (b *body) readRest(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyRestTimeout)) // without it the connection's own counts
	_, _ = io.CopyN(io.Discard, b, maxBodyRest)                                        // a client that ends early wants no answer
}
