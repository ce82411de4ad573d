package filters

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"

	"github.com/deed-project/deed/server/audit"
	"github.com/deed-project/deed/server/request"
	"github.com/deed-project/deed/server/response"
)

// WithDeadline sets the deadline of a request: the timeout in its query, at most that of the limits. A request that changes objects may have
// an earlier one. A query whose timeout is no duration gets 400. Long-running requests have no deadline.
//
// The connection has the same deadline for what it reads and writes. Connections between goroutines of one process cannot have one; then
// only the context ends. Connections of a listener with deadlines keep those, unless the request asks for less.
//
// There are three times, from the shortest to the longest:
//
//	context      timeout, or limits.Write for a request that changes objects
//	reading      timeout
//	writing      timeout + limits.Request, so that the answer about the timeout can be sent
func WithDeadline(limits Limits, recorder *audit.Recorder, out response.Writer, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, connection := request.From(r.Context()), http.NewResponseController(w)
		if ctx.IsLongRunning() {
			_ = connection.SetReadDeadline(time.Time{}) // an earlier request on the connection may have set one
			_ = connection.SetWriteDeadline(time.Time{})
			next(w, r)
			return
		}
		timeout, now := limits.Request, time.Now()
		asked, err := timeoutOf(ctx.Query)
		if err != nil {
			recordRefusal(recorder, w, r, err.Error())
			out.Error(w, r, err)
			return
		}
		if asked > 0 && asked < timeout {
			timeout = asked
		}
		// The deadlines of the listener do, unless the request asks for less.
		if l := request.ListenerOf(ctx.Client); timeout < limits.Request || l == nil || !l.HasDeadlines {
			if r.Body != nil && r.Body != http.NoBody {
				_ = connection.SetReadDeadline(now.Add(timeout))
			}
			_ = connection.SetWriteDeadline(now.Add(timeout + limits.Request))
		}
		ctx.Timeout = timeout
		// Shortened tells that this bound ended the request, and not the one that the client knows.
		if ctx.ChangesObjects() && limits.Write < timeout {
			timeout, ctx.Shortened = limits.Write, true
		}
		ctx.Expires = now.Add(timeout)
		defer ctx.Stop()
		next(w, r)
	}
}

// timeoutOf returns the timeout in a query, 0 if there is none.
//
// A timeout of zero or less is none.
func timeoutOf(query url.Values) (time.Duration, error) {
	text := query.Get("timeout")
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, errors.NewBadRequest(fmt.Sprintf("invalid timeout specified in the request URL - %v", err))
	}
	return d, nil
}
