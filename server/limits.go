package server

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
)

// Limits are how much a server does at once, and how long a request may take. A field that is 0 is as in [DefaultLimits]. Watches
// go on for as long as they like, and count for nothing here.
type Limits struct {
	Reading, Writing int           // requests in flight; further ones are told to come again
	Request          time.Duration // of a request, from its first byte to its last
	Write            time.Duration // of what a request does to objects
}

// DefaultLimits are those of kube-apiserver.
var DefaultLimits = Limits{Reading: 400, Writing: 200, Request: time.Minute, Write: 34 * time.Second}

// withDefaults returns l with what it leaves open.
func (l Limits) withDefaults() Limits {
	d := DefaultLimits
	for _, f := range []struct{ of, standard *int }{{&l.Reading, &d.Reading}, {&l.Writing, &d.Writing}} {
		if *f.of == 0 {
			*f.of = *f.standard
		}
	}
	for _, f := range []struct{ of, standard *time.Duration }{{&l.Request, &d.Request}, {&l.Write, &d.Write}} {
		if *f.of == 0 {
			*f.of = *f.standard
		}
	}
	return l
}

// inFlight counts the requests in flight, watches excepted. The zero inFlight is none. It is safe for concurrent use.
//
// A request is in flight until all of its work has ended, also when its client was told that its time is over, or has left.
type inFlight struct{ reading, writing, exempt atomic.Int64 }

// enter counts a request in, and returns where to count it out. It returns nil if there are as many as limits allow; a request that is exempt
// from them is counted by itself.
func (f *inFlight) enter(c *call, exempt bool, l Limits) *atomic.Int64 {
	count, most := &f.reading, l.Reading
	switch {
	case exempt:
		count, most = &f.exempt, math.MaxInt
	case c.writes():
		count, most = &f.writing, l.Writing
	}
	if count.Add(1) > int64(most) {
		count.Add(-1)
		return nil
	}
	return count
}

// overloaded refuses a request that comes at a bad time: 429.
func overloaded(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "1")
	http.Error(w, "Too many requests, please try again later.", http.StatusTooManyRequests)
}

// limitTime gives a request that is no watch the time that it may take: what its query says, at most that of the limits; what changes
// objects may have less. The context ends then. The error is a 400 for a query that says something else.
//
// Whatever is read from the client, and written to it, must come in that time too. A connection without deadlines, as between
// goroutines of one process, has none; the context ends all the same. One whose listener gives every request the time of the limits
// need not be told: see [Server.Serve].
func (s *Server) limitTime(w http.ResponseWriter, r *http.Request, c *call) (*requestContext, error) {
	ctx, connection := &requestContext{Context: r.Context()}, http.NewResponseController(w)
	if c.long() {
		_ = connection.SetReadDeadline(time.Time{}) // what an earlier request on the connection set; see above for the error
		_ = connection.SetWriteDeadline(time.Time{})
		return ctx, nil
	}
	asked, err := timeoutOf(c.query)
	if err != nil {
		return ctx, err
	}
	timeout, now := s.limits.Request, time.Now()
	if asked > 0 && asked < timeout {
		timeout = asked
	}
	if timeout < s.limits.Request || !s.servingOf(ctx).limited {
		if r.Body != nil && r.Body != http.NoBody {
			_ = connection.SetReadDeadline(now.Add(timeout)) // as above
		}
		_ = connection.SetWriteDeadline(now.Add(timeout + s.limits.Request))
	}
	if c.changes() && s.limits.Write < timeout {
		timeout, c.brief = s.limits.Write, true
	}
	ctx.deadline = now.Add(timeout)
	return ctx, nil
}

// timeoutOf returns how long the query of a request lets it take, 0 if it does not say.
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

// timedOut answers a request whose time is over, in the words of the part of kube-apiserver that watches over it.
func timedOut(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(http.StatusGatewayTimeout)
	fmt.Fprint(w, `{"metadata":{},"status":"Failure","message":"Timeout: request did not complete within the allotted timeout",`+
		`"reason":"Timeout","details":{},"code":504}`)
}

// writeTimedOut refuses a write whose time is over: 504.
func writeTimedOut(err error) error {
	return errors.NewTimeoutError("request did not complete within requested timeout - "+err.Error(), 0)
}

// writes reports whether a request changes something, or may.
func (c *call) writes() bool {
	return !slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodOptions}, c.method)
}

// changes reports whether a request carries out a verb that may change objects.
func (c *call) changes() bool {
	return c.verb != "" && c.verb != "get" && c.verb != "list" && !c.long()
}

// long reports whether a request goes on until somebody ends it.
func (c *call) long() bool { return c.verb == "watch" }
