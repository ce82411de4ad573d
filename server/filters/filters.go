// Package filters has the handlers that stand in front of every request. Each wraps the next one, and carries the name that the filter has in
// k8s.io/apiserver where there is such a filter. They expect a [request.Context] as the context of the request; package server lists them in
// their order.
//
// net/http starts a goroutine for each request. Its stack is small at first, and is copied frame by frame each time it grows. So filters are
// functions: to call an [http.Handler] would take two frames each.
package filters

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/audit"
	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/server/logs"
	"github.com/deed-project/deed/server/metrics"
	"github.com/deed-project/deed/server/request"
	"github.com/deed-project/deed/server/response"
)

// Filters are handlers in front of other handlers. Each does one thing and then calls next, or answers itself. Their order is in package
// server. What a filter finds out about a request is in request.Context, where filters and handlers after it find it.

// noCache is the value of Cache-Control in most answers. It is shared and must not be modified.
var noCache = []string{"no-cache, private"}

// WithAuditID sets the headers that every answer has: the id of the request, which is the client's if it sends one, and that caches keep no
// answer.
func WithAuditID(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get("Audit-Id")
		if id == "" {
			id = api.NewUID()
		}
		h := w.Header()
		h["Audit-Id"], h["Cache-Control"] = []string{id}, noCache
		next(w, r)
	}
}

// WithMetrics counts the request if a handler serves it, with the status code, the size and the time of its answer. It counts the end of an
// answer that goes on after the filters when [request.Info.After] returns.
func WithMetrics(m *metrics.Metrics, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, tracked, since := request.From(r.Context()), response.Track(w), time.Now()
		defer func() {
			served := m.Served(ctx.Info)
			if after := ctx.After; after != nil {
				ctx.After = func() (size int64) {
					defer func() { served.End(http.StatusOK, size, time.Since(since)) }()
					return after()
				}
				return
			}
			served.End(tracked.Code, tracked.Size, time.Since(since))
		}()
		next(tracked, r)
	}
}

// WithPanicRecovery answers a request that panicked with 500, or ends its connection if the answer has begun. http.ErrAbortHandler is no
// failure: it ends the connection.
func WithPanicRecovery(panics Panics, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		tracked := response.Track(w)
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			panics.Report(r.Method, r.URL.Path, v)
			if tracked.Code != 0 {
				panic(http.ErrAbortHandler)
			}
			http.Error(tracked, "This request caused apiserver to panic. Look in the logs for details.", http.StatusInternalServerError)
		}()
		next(tracked, r)
	}
}

// Panics reports panics of requests.
type Panics struct {
	Metrics *metrics.Metrics
	Log     logs.Logger
}

// Report counts and logs the value of a panic, with the stack of the caller. It panics again with http.ErrAbortHandler, which is no failure.
//
// The value of the panic is logged in the form that package logs permits.
func (p Panics) Report(method, path string, v any) {
	if v == http.ErrAbortHandler {
		panic(v)
	}
	p.Metrics.Panics.Inc()
	p.Log.Error("a request panicked", logs.Name("method", method), logs.Path(path), logs.Panic(v), logs.Stack())
}

// WithRequestInfo answers with 500 a request whose path begins with the deprecated prefix watch or proxy, and ends there.
func WithRequestInfo(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if request.From(r.Context()).IsIncomplete() {
			w.Header().Del("Cache-Control")
			internalError(w, r, fmt.Sprintf("failed to create RequestInfo: unable to determine kind and namespace from url, %v", r.URL))
			return
		}
		next(w, r)
	}
}

// internalError answers with 500 and a text.
func internalError(w http.ResponseWriter, r *http.Request, text string) {
	text = fmt.Sprintf("Internal Server Error: %q: %s", r.RequestURI, text)
	http.Error(w, htmlFree.Replace(text), http.StatusInternalServerError)
}

// htmlFree makes a text that no browser takes for HTML.
var htmlFree = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// guard returns a handler that asks check about each request, and calls next if there is no error. Otherwise refuse answers.
//
// What check needs of the stack is free again while next runs.
func guard(check func(http.ResponseWriter, *http.Request) error, refuse func(http.ResponseWriter, *http.Request, error), next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := check(w, r); err != nil {
			refuse(w, r, err)
			return
		}
		next(w, r)
	}
}

// WithAuthentication sets the user of the request, or answers with 401. A token that did not count because of a space has a warning. The
// audit log has the request that is answered with 401.
func WithAuthentication(access *auth.Access, recorder *audit.Recorder, out response.Writer, next http.HandlerFunc) http.HandlerFunc {
	return guard(func(w http.ResponseWriter, r *http.Request) error {
		user, err := access.Authenticate(r)
		if text := auth.AdviseOnToken(r, user); text != "" {
			var warnings api.Warnings
			warnings.Add(text)
			warnings.Write(w.Header())
		}
		if err == nil {
			request.From(r.Context()).User = user
		}
		return err
	}, func(w http.ResponseWriter, r *http.Request, err error) {
		recordRefusal(recorder, w, r, attempts(r))
		out.Error(w, r, err)
	}, next)
}

// WithImpersonation replaces the user by the one that the headers name, or answers with 403.
//
// Filters and handlers after it see only the other user.
func WithImpersonation(access *auth.Access, out response.Writer, next http.HandlerFunc) http.HandlerFunc {
	return guard(func(_ http.ResponseWriter, r *http.Request) error {
		ctx := request.From(r.Context())
		user, constraint, err := access.Impersonate(r, ctx.User, ctx.Action())
		if err == nil && user != nil {
			ctx.User = *user
			ctx.Record.Impersonate(*user, constraint)
		}
		return err
	}, out.Forbid, next)
}

// WithOriginCheck answers with 403 a request that a web page of another site may have caused, see [auth.Access.CheckOrigin].
func WithOriginCheck(access *auth.Access, out response.Writer, next http.HandlerFunc) http.HandlerFunc {
	return guard(func(_ http.ResponseWriter, r *http.Request) error {
		return access.CheckOrigin(r, request.From(r.Context()).User)
	}, out.Error, next)
}

// WithAuthorization answers with 403 a request that its user may not make.
func WithAuthorization(access *auth.Access, out response.Writer, next http.HandlerFunc) http.HandlerFunc {
	return guard(func(_ http.ResponseWriter, r *http.Request) error {
		ctx := request.From(r.Context())
		reason, err := access.Authorize(ctx, ctx.Action())
		if ctx.Record != nil {
			decision := "allow"
			if err != nil {
				decision = "forbid"
			}
			ctx.Record.Annotate("authorization.k8s.io/decision", decision)
			ctx.Record.Annotate("authorization.k8s.io/reason", reason)
		}
		return err
	}, out.Forbid, next)
}
