package filters

import (
	"io"
	"net/http"
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
func WithBodyRead(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if request.From(r.Context()).After == nil {
				readRest(w, r)
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// readRest reads and drops the rest of a body, within bounds of bytes and time.
func readRest(w http.ResponseWriter, r *http.Request) {
	if r.ProtoMajor != 2 || r.Body == nil || r.Body == http.NoBody || r.ContentLength > maxBodyRest {
		return
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyRestTimeout)) // without it the connection's own counts
	_, _ = io.CopyN(io.Discard, r.Body, maxBodyRest)                                   // a client that ends early wants no answer
}
