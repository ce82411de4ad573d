package server

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/logs"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/wire"
)

// ServeHTTP answers a request.
//
//	identify      the request gets an id
//	count         that it begins, and how it ends
//	protect       a panic is answered with 500, and logged with its stack
//	limitTime     how long it may take
//	authenticate  who sends it, and as whom
//	enter         unless there are too many already; members of system:masters always may
//	stayAtHome    a web page of another site may not have caused it, see foreign.go
//	authorize     whether the user may do what it asks for, whether or not there is such a thing
//	route         to what its path names, see route.go
//	follow        what goes on after the answer has begun, as it does for watches
func (s *Server) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	c := newCall(r)
	if !c.long() {
		reserveStack()
	}
	if f := s.handle(out, r, c); f != nil {
		f.run()
		f.end()
	}
}

// handle is ServeHTTP up to what follows, which it returns: nothing of what was needed up to there is kept for it.
func (s *Server) handle(out http.ResponseWriter, asked *http.Request, c *call) (follows *following) {
	r, w := asked, &answerWriter{ResponseWriter: out}
	defer func() {
		if follows == nil {
			readRest(w, asked)
		}
	}()
	through := s.servingOf(c.client)
	if through.state != nil {
		r.TLS = through.state // which net/http does not see: see [transport.Listener]
	}
	id := r.Header.Get("Audit-Id")
	if id == "" {
		id = api.NewUID()
	}
	h := w.Header()
	h["Audit-Id"], h["Cache-Control"] = []string{id}, uncached
	answered := s.metrics.begin(c, s.catalog.Load())
	defer func() {
		if follows == nil {
			answered.end(w.code)
		}
	}()
	defer s.recovered(w, r)
	ctx, err := s.limitTime(w, r, c)
	defer ctx.stop()
	r = r.WithContext(ctx)
	if err != nil {
		s.fail(w, r, s.errorsOf(r), err)
		return nil
	}
	user, ok := s.user(w, r, c)
	if !ok {
		return nil
	}
	ctx.user = user
	if !c.long() {
		count := s.flight.enter(c, user.isMaster(), s.limits)
		if count == nil {
			s.metrics.reject(c)
			overloaded(w)
			return nil
		}
		defer count.Add(-1)
	}
	if err = s.refuseForeign(r, user); err == nil {
		err = s.permit(r, c)
	}
	if err != nil {
		s.fail(w, r, s.errorsOf(r), err)
		return nil
	}
	s.route(w, r, c)
	if c.follows == nil {
		return nil
	}
	if through.limited {
		asked.Header = nil // nobody else has the request
	}
	c.follows.out, c.follows.answered = stream{out, &s.deadlines, c.follows.compressed}, answered
	return c.follows
}

// How much of a body that was not wanted is read after all, and for how long.
const (
	restMost     = 64 << 20
	restPatience = 5 * time.Second
)

// readRest reads what is left of the body of an HTTP/2 request before the answer ends. Otherwise net/http would reset the stream behind
// the answer, and clients such as curl 7.88, which are sending still, would lose the answer with it.
func readRest(w http.ResponseWriter, r *http.Request) {
	if r.ProtoMajor != 2 || r.Body == nil || r.Body == http.NoBody || r.ContentLength > restMost {
		return
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(restPatience)) // without it the connection's own counts
	_, _ = io.CopyN(io.Discard, r.Body, restMost)                                   // a client that ends early wants no answer
}

// uncached are the values of a header that tells to keep no answer. Nobody may modify them.
var uncached = []string{"no-cache, private"}

// user returns who a request is from, and as whom. It answers the request, and returns false, if that is nobody.
func (s *Server) user(w http.ResponseWriter, r *http.Request, c *call) (User, bool) {
	user := master
	if s.authenticate != nil {
		var err error
		if user, err = s.authenticate(r); err != nil {
			s.log.Info("not authenticated", logs.Path(r.URL.Path), logs.Fault(err))
			s.fail(w, r, wire.Plain, errUnauthorized)
			return user, false
		}
	}
	user, err := s.impersonated(r, c, user)
	if err != nil {
		s.fail(w, r, s.errorsOf(r), err)
	}
	return user, err == nil
}

// recovered answers a request that panicked; if its answer has begun, the connection ends. http.ErrAbortHandler is no failure: it
// ends the connection, and goes on to do so.
func (s *Server) recovered(w *answerWriter, r *http.Request) {
	v := recover()
	if v == nil {
		return
	}
	s.panicked(r.Method, r.URL.Path, v)
	if w.code != 0 {
		panic(http.ErrAbortHandler)
	}
	http.Error(w, "This request caused apiserver to panic. Look in the logs for details.", http.StatusInternalServerError)
}

// panicked counts and logs the value of a panic, unless it is http.ErrAbortHandler, with which it panics once more.
func (s *Server) panicked(method, path string, v any) {
	if v == http.ErrAbortHandler {
		panic(v)
	}
	s.metrics.panics.Inc()
	s.log.Error("a request panicked", logs.Name("method", method), logs.Path(path), logs.Panic(v), logs.Stack())
}

// fail answers with the Status of err. A failure of the store is logged with its cause, which the client does not get.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, rep wire.Representation, err error) {
	if failure := (*store.Failure)(nil); errors.As(err, &failure) {
		s.log.Error("the store failed", logs.Name("method", r.Method), logs.Path(r.URL.Path), logs.Fault(failure))
	}
	status := api.StatusOf(err)
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", fmt.Sprint(status.Details.RetryAfterSeconds))
	}
	if status.Code == http.StatusForbidden {
		w.Header().Set("X-Content-Type-Options", "nosniff")
	}
	s.write(w, r, httpCode(status.Code), rep, wire.Typed{Object: status})
}

// httpCode returns the code of a Status as the code of an answer. A webhook may refuse a request with a code that is none,
// for which net/http panics: then the answer has 500, and the Status stays as it is.
func httpCode(code int32) int {
	if code < 100 || code > 999 {
		return http.StatusInternalServerError
	}
	return int(code)
}

// write answers with a document. That the client is gone is not the server's failure.
func (s *Server) write(w http.ResponseWriter, r *http.Request, code int, rep wire.Representation, document wire.Document) {
	err := wire.Write(w, r, code, rep, document)
	var unsaid *wire.EncodeError
	switch {
	case errors.As(err, &unsaid):
		s.log.Error("an answer cannot be encoded", logs.Path(r.URL.Path), logs.Fault(err))
		s.fail(w, r, wire.Plain, err)
	case err != nil:
		s.log.Debug("an answer was not written", logs.Path(r.URL.Path), logs.Fault(err))
	}
}

// notFoundText is the answer to a path that leads nowhere.
func notFoundText(w http.ResponseWriter) {
	http.Error(w, "404 page not found", http.StatusNotFound)
}
