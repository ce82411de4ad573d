package filters_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/filters"
	"github.com/deed-project/deed/server/logs"
	"github.com/deed-project/deed/server/metrics"
	"github.com/deed-project/deed/server/request"
	"github.com/deed-project/deed/server/response"
)

// newRequest returns a request with a Context, of a user.
func newRequest(method, target string, u auth.User) (*http.Request, *request.Context) {
	r := httptest.NewRequest(method, target, nil)
	ctx := request.As(r.Context(), u)
	ctx.Info = request.NewInfo(r)
	return r.WithContext(ctx), ctx
}

// serve sends a request to a handler, and returns the answer.
func serve(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

var ok = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok") })

// served is what a server without resources serves.
func served() *catalog.Catalog { return catalog.New() }

// TestAuditID gives each answer an id: that of the client, or one of its own.
func TestAuditID(t *testing.T) {
	h := filters.WithAuditID(ok)
	r, _ := newRequest(http.MethodGet, "/", auth.System)
	a, b := serve(h, r), serve(h, r)
	if id := a.Header().Get("Audit-Id"); len(id) != 36 || id == b.Header().Get("Audit-Id") || a.Header().Get("Cache-Control") != "no-cache, private" {
		t.Errorf("the headers are %v and %v", a.Header(), b.Header())
	}
	r.Header.Set("Audit-Id", "mine")
	if id := serve(h, r).Header().Get("Audit-Id"); id != "mine" {
		t.Errorf("the id is %s", id)
	}
}

// TestMetrics counts the end of requests, also of answers that go on after the filters.
func TestMetrics(t *testing.T) {
	m := metrics.New(&metrics.InFlight{}, served)
	count := func(code string) bool {
		w := serve(m.Handler, httptest.NewRequest(http.MethodGet, "/", nil))
		return strings.Contains(w.Body.String(), `apiserver_request_total{code="`+code+`",`)
	}
	r, ctx := newRequest(http.MethodGet, "/", auth.System)
	answers := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(418) })
	if serve(filters.WithMetrics(m, answers), r); count("418") {
		t.Error("an answer is counted that no handler gave")
	}
	ctx.Route = request.PathRoute(r, "/")
	if serve(filters.WithMetrics(m, answers), r); !count("418") {
		t.Error("an answer is not counted by its code")
	}
	ran := false
	goesOn := func(http.ResponseWriter, *http.Request) { ctx.After = func() int64 { ran = true; return 1 } }
	serve(filters.WithMetrics(m, http.HandlerFunc(goesOn)), r)
	if count("200") {
		t.Error("an answer that goes on is counted already")
	}
	if ctx.After(); !ran || !count("200") {
		t.Errorf("an answer that went on (%v) is not counted", ran)
	}
}

// TestPanicRecovery answers requests that panic, before and after the answer began.
func TestPanicRecovery(t *testing.T) {
	for _, c := range []struct {
		name        string
		panics      any
		begun       bool
		code, count int
		aborts      bool
	}{
		{"nothing", nil, false, 200, 0, false},
		{"before the answer", "secret", false, 500, 1, false},
		{"within the answer", "secret", true, 200, 1, true},
		{"an abort", http.ErrAbortHandler, false, 200, 0, true},
	} {
		var log bytes.Buffer
		m := metrics.New(&metrics.InFlight{}, served)
		panics := filters.Panics{Metrics: m, Log: logs.New(slog.New(slog.NewTextHandler(&log, nil)))}
		h := filters.WithPanicRecovery(panics, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if c.begun {
				io.WriteString(w, "begun")
			}
			if c.panics != nil {
				panic(c.panics)
			}
		}))
		r, _ := newRequest(http.MethodGet, "/p", auth.System)
		w, aborts := httptest.NewRecorder(), false
		func() {
			defer func() { aborts = recover() == http.ErrAbortHandler }()
			h.ServeHTTP(w, r)
		}()
		shown := serve(m.Handler, r).Body.String()
		if w.Code != c.code || aborts != c.aborts || !strings.Contains(shown, fmt.Sprintf("apiserver_panics_total %d\n", c.count)) {
			t.Errorf("%s: code %d, aborts %v, want %d, %v and %d panics", c.name, w.Code, aborts, c.code, c.aborts, c.count)
		}
		if c.code == 500 && w.Body.String() != "This request caused apiserver to panic. Look in the logs for details.\n" {
			t.Errorf("%s: the answer is %s", c.name, w.Body)
		}
		if logged := strings.Contains(log.String(), "a request panicked") && strings.Contains(log.String(), "path=/p"); logged != (c.count == 1) {
			t.Errorf("%s: the log is %q", c.name, log.String())
		}
	}
}

// TestAccess lets each filter of access pass a request, and refuse one.
func TestAccess(t *testing.T) {
	jane := auth.User{Name: "jane"}
	access := &auth.Access{
		Authenticator: func(r *http.Request) (auth.User, error) {
			if r.Header.Get("Authorization") == "" {
				return auth.User{}, errors.New("none")
			}
			return jane, nil
		},
		Authorizer: func(_ context.Context, _ auth.User, a auth.Action) (bool, string) {
			return a.Path == "/open" || a.Verb == "impersonate", ""
		},
	}
	authentication := func(access *auth.Access, out response.Writer, next http.HandlerFunc) http.HandlerFunc {
		return filters.WithAuthentication(access, nil, out, next)
	}
	for _, c := range []struct {
		name                string
		with                func(*auth.Access, response.Writer, http.HandlerFunc) http.HandlerFunc
		path, header, value string
		code                int
		user                string // that the next handler gets
	}{
		{"authentication", authentication, "/", "Authorization", "x", 200, "jane"},
		{"authentication", authentication, "/", "", "", 401, ""},
		{"impersonation", filters.WithImpersonation, "/", "Impersonate-User", "joe", 200, "joe"},
		{"impersonation", filters.WithImpersonation, "/", "", "", 200, "bob"},
		{"impersonation", filters.WithImpersonation, "/", "Impersonate-Group", "g", 400, ""},
		{"origin", filters.WithOriginCheck, "/", "Origin", "http://example.com", 200, "bob"},
		{"authorization", filters.WithAuthorization, "/open", "", "", 200, "bob"},
		{"authorization", filters.WithAuthorization, "/shut", "", "", 403, ""},
	} {
		got := ""
		h := c.with(access, response.Writer{}, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = auth.UserOf(r.Context()).Name }))
		r, _ := newRequest(http.MethodGet, c.path, auth.User{Name: "bob"})
		if c.header != "" {
			r.Header.Set(c.header, c.value)
		}
		w := serve(h, r)
		if isSafe := w.Header().Get("X-Content-Type-Options") == "nosniff"; c.code == 403 && !isSafe {
			t.Errorf("a browser may guess what the refusal of %s is", c.path)
		}
		if w.Code != c.code || got != c.user {
			t.Errorf("%s of %s with %q: code %d for %q, want %d for %q", c.name, c.path, c.value, w.Code, got, c.code, c.user)
		}
	}
	r, _ := newRequest(http.MethodGet, "/", auth.Anonymous)
	r.Header.Set("Origin", "http://evil.example")
	if w := serve(filters.WithOriginCheck(access, response.Writer{}, ok), r); w.Code != 403 {
		t.Errorf("a request of another site is answered with %d", w.Code)
	}
}

// TestMaxInFlight sends requests of each kind while others wait.
func TestMaxInFlight(t *testing.T) {
	jane := auth.User{Name: "jane"}
	limits := filters.Limits{Reading: 1, Writing: 1}
	for _, c := range []struct {
		first, second, path string
		u                   auth.User
		code                int
	}{
		{"GET", "GET", "/api/v1/pods", jane, 429},
		{"GET", "POST", "/api/v1/pods", jane, 200},
		{"POST", "PUT", "/api/v1/pods", jane, 429},
		{"POST", "HEAD", "/api/v1/pods", jane, 200},
		{"POST", "POST", "/api/v1/pods", auth.System, 200},
		{"GET", "GET", "/api/v1/pods?watch=1", jane, 200},
	} {
		flight := &metrics.InFlight{}
		m := metrics.New(flight, served)
		var second *httptest.ResponseRecorder
		var h http.Handler
		h = filters.WithMaxInFlight(limits, flight, m, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if second == nil {
				second = httptest.NewRecorder()
				again, _ := newRequest(c.second, c.path, c.u)
				h.ServeHTTP(second, again)
			}
		}))
		r, _ := newRequest(c.first, c.path, c.u)
		first := serve(h, r)
		if first.Code != 200 || second.Code != c.code {
			t.Errorf("%s, then %s %s of %s: %d and %d, want 200 and %d", c.first, c.second, c.path, c.u.Name, first.Code, second.Code, c.code)
		}
		if n := flight.Reading.Load() + flight.Writing.Load() + flight.ExemptReading.Load() + flight.ExemptWriting.Load(); n != 0 {
			t.Errorf("%s, then %s: %d requests are in flight at the end", c.first, c.second, n)
		}
		rejected := strings.Contains(serve(m.Handler, r).Body.String(), "apiserver_rejected_requests_total{")
		if rejected != (c.code == 429) {
			t.Errorf("%s, then %s: rejections are counted: %v", c.first, c.second, rejected)
		}
	}
}

// TestLimits fills in the defaults.
func TestLimits(t *testing.T) {
	if got := (filters.Limits{}).WithDefaults(); got != filters.DefaultLimits {
		t.Errorf("no limits become %v", got)
	}
	some := filters.Limits{Reading: 1, Write: time.Second}
	if got := some.WithDefaults(); got != (filters.Limits{Reading: 1, Writing: 200, Request: time.Minute, Write: time.Second}) {
		t.Errorf("%v become %v", some, got)
	}
	if all := (filters.Limits{Reading: 1, Writing: 2, Request: 3, Write: 4}); all.WithDefaults() != all {
		t.Errorf("%v become %v", all, all.WithDefaults())
	}
}

// deadlines is a connection that notes the deadlines that it gets.
type deadlines struct {
	*httptest.ResponseRecorder
	read, write time.Time
}

// SetReadDeadline notes a deadline.
func (d *deadlines) SetReadDeadline(at time.Time) error { d.read = at; return nil }

// SetWriteDeadline notes a deadline.
func (d *deadlines) SetWriteDeadline(at time.Time) error { d.write = at; return nil }

// TestDeadline sets deadlines of requests and of their connections.
func TestDeadline(t *testing.T) {
	limits := filters.Limits{Request: time.Hour, Write: 30 * time.Minute}
	const none = time.Duration(-1)
	for _, c := range []struct {
		method, target       string
		listener             *request.Listener
		expires, read, write time.Duration // from now on
		shortened            bool
	}{
		{"GET", "/api/v1/pods", nil, time.Hour, none, 2 * time.Hour, false},
		{"GET", "/api/v1/pods?timeout=1m", nil, time.Minute, none, time.Hour + time.Minute, false},
		{"GET", "/api/v1/pods?timeout=2h", nil, time.Hour, none, 2 * time.Hour, false},
		{"GET", "/api/v1/pods?timeout=-1s", nil, time.Hour, none, 2 * time.Hour, false},
		{"POST", "/api/v1/namespaces/a/pods", nil, 30 * time.Minute, time.Hour, 2 * time.Hour, true},
		{"POST", "/api/v1/namespaces/a/pods?timeout=1m", nil, time.Minute, time.Minute, time.Hour + time.Minute, false},
		{"GET", "/api/v1/pods", &request.Listener{}, time.Hour, none, 2 * time.Hour, false},
		{"GET", "/api/v1/pods", &request.Listener{HasDeadlines: true}, time.Hour, none, none, false},
		{"GET", "/api/v1/pods?timeout=1m", &request.Listener{HasDeadlines: true}, time.Minute, none, time.Hour + time.Minute, false},
	} {
		r := httptest.NewRequest(c.method, c.target, nil)
		if c.method == "POST" {
			r.Body = io.NopCloser(strings.NewReader("{}"))
		}
		if c.listener != nil {
			r = r.WithContext(request.WithListener(r.Context(), *c.listener))
		}
		ctx := request.As(r.Context(), auth.System)
		ctx.Info = request.NewInfo(r)
		w, called := &deadlines{ResponseRecorder: httptest.NewRecorder()}, false
		before := time.Now()
		filters.WithDeadline(limits, nil, response.Writer{}, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true })).
			ServeHTTP(w, r.WithContext(ctx))
		within := func(at time.Time, want time.Duration) bool {
			if want == none {
				return at.IsZero()
			}
			return !at.Before(before.Add(want)) && !at.After(time.Now().Add(want))
		}
		if !called || !within(ctx.Expires, c.expires) || !within(w.read, c.read) || !within(w.write, c.write) || ctx.Shortened != c.shortened {
			t.Errorf("%s %s: from %v on, the deadlines are %v, %v and %v (shortened: %v)", c.method, c.target, before, ctx.Expires, w.read, w.write, ctx.Shortened)
		}
	}
	r, _ := newRequest(http.MethodGet, "/api/v1/pods?timeout=soon", auth.System)
	w := serve(filters.WithDeadline(limits, nil, response.Writer{}, ok), r)
	if w.Code != 400 || !strings.Contains(w.Body.String(), `invalid timeout specified in the request URL - time: invalid duration`) {
		t.Errorf("a timeout that is no duration: %d %s", w.Code, w.Body)
	}
	r, ctx := newRequest(http.MethodGet, "/api/v1/pods?watch=1&timeout=soon", auth.System)
	d := &deadlines{ResponseRecorder: httptest.NewRecorder(), read: time.Now(), write: time.Now()}
	filters.WithDeadline(limits, nil, response.Writer{}, ok).ServeHTTP(d, r)
	if d.Code != 200 || !ctx.Expires.IsZero() || !d.read.IsZero() || !d.write.IsZero() {
		t.Errorf("a watch: code %d, deadlines %v, %v and %v", d.Code, ctx.Expires, d.read, d.write)
	}
}

// TestBodyRead reads the rest of the bodies that net/http would cut off.
func TestBodyRead(t *testing.T) {
	for _, c := range []struct {
		name   string
		major  int
		length int64
		after  bool
		left   int
	}{
		{"HTTP/2", 2, 4, false, 0},
		{"HTTP/2 of unknown length", 2, -1, false, 0},
		{"HTTP/1.1", 1, 4, false, 3},
		{"a large body", 2, 64<<20 + 1, false, 3},
		{"an answer that goes on", 2, 4, true, 3},
	} {
		r, ctx := newRequest(http.MethodPost, "/", auth.System)
		body := strings.NewReader("body")
		r.ProtoMajor, r.ContentLength, r.Body = c.major, c.length, io.NopCloser(body)
		serve(filters.WithBodyRead(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			r.Body.Read(make([]byte, 1))
			if c.after {
				ctx.After = func() int64 { return 0 }
			}
		})), r)
		if body.Len() != c.left {
			t.Errorf("%s: %d bytes are left, want %d", c.name, body.Len(), c.left)
		}
	}
}
