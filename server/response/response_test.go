package response_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/server/logs"
	"github.com/deed-project/deed/server/response"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/wire"
)

// TestError answers with errors, and logs the cause of those that the client does not get.
func TestError(t *testing.T) {
	odd := kerrors.NewBadRequest("odd")
	odd.ErrStatus.Code = 7
	for _, c := range []struct {
		err       error
		code      int
		body, log string
		retry     string
	}{
		{kerrors.NewBadRequest("no"), 400, `"message":"no"`, "", ""},
		{kerrors.NewForbidden(kschema.GroupResource{Resource: "pods"}, "a", errors.New("no")), 403, `pods \"a\" is forbidden: no`, "", ""},
		{kerrors.NewTooManyRequests("later", 9), 429, `"retryAfterSeconds":9`, "", "9"},
		{odd, 500, `"code":7`, "", ""},
		{&store.Failure{Cause: errors.New("disk on fire")}, 500, `"status":"Failure"`, "disk on fire", ""},
	} {
		var log bytes.Buffer
		out := response.Writer{Log: logs.New(slog.New(slog.NewTextHandler(&log, nil)))}
		w := httptest.NewRecorder()
		out.Error(w, httptest.NewRequest(http.MethodGet, "/p", nil), c.err)
		if w.Code != c.code || !strings.Contains(w.Body.String(), c.body) || strings.Contains(w.Body.String(), "disk on fire") {
			t.Errorf("%v: %d %s, want %d %s", c.err, w.Code, w.Body, c.code, c.body)
		}
		if !strings.Contains(log.String(), c.log) || c.log == "" && log.Len() > 0 {
			t.Errorf("%v: the log is %q, want %q", c.err, log.String(), c.log)
		}
		if h := w.Header(); h.Get("Retry-After") != c.retry {
			t.Errorf("%v: the headers are %v", c.err, h)
		}
	}
}

// TestErrorMedia answers in the representation that the client wants, and in CBOR only if clients may ask for it.
func TestErrorMedia(t *testing.T) {
	for _, c := range []struct {
		accept string
		cbor   bool
		want   string
	}{
		{"application/vnd.kubernetes.protobuf", false, "application/vnd.kubernetes.protobuf"},
		{"application/yaml", false, "application/yaml"},
		{"application/cbor", true, "application/cbor"},
		{"application/cbor", false, "application/json"},
		{"text/html", false, "application/json"},
	} {
		r := httptest.NewRequest(http.MethodGet, "/p", nil)
		r.Header.Set("Accept", c.accept)
		w := httptest.NewRecorder()
		response.Writer{CBOR: c.cbor}.Error(w, r, kerrors.NewBadRequest("no"))
		if got := w.Header().Get("Content-Type"); got != c.want {
			t.Errorf("%s (CBOR: %v) is answered in %s, want %s", c.accept, c.cbor, got, c.want)
		}
	}
}

// TestCode takes codes that HTTP has, and those around them.
func TestCode(t *testing.T) {
	for code, want := range map[int32]int{-1: 500, 0: 500, 99: 500, 100: 100, 422: 422, 999: 999, 1000: 500} {
		if got := response.Code(code); got != want {
			t.Errorf("%d is answered as %d, want %d", code, got, want)
		}
	}
}

// TestPlainAnswers compares answers that are no document.
func TestPlainAnswers(t *testing.T) {
	for want, write := range map[string]func(http.ResponseWriter){
		"404 text/plain; charset=utf-8  404 page not found\n":                          response.NotFound,
		"429 text/plain; charset=utf-8 8 Too many requests, please try again later.\n": func(w http.ResponseWriter) { response.Overloaded(w, 8) },
		`504 text/plain; charset=utf-8  {"metadata":{},"status":"Failure","message":"Timeout: request did not complete within the allotted ` +
			`timeout","reason":"Timeout","details":{},"code":504}` + "\n": response.TimedOut,
	} {
		w := httptest.NewRecorder()
		write(w)
		if got := fmt.Sprint(w.Code, " ", w.Header().Get("Content-Type"), " ", w.Header().Get("Retry-After"), " ", w.Body); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestTracker keeps the status code that the client gets, which is the first one.
func TestTracker(t *testing.T) {
	tracked := response.Track(httptest.NewRecorder())
	if tracked.Code != 0 {
		t.Errorf("before the answer, the code is %d", tracked.Code)
	}
	if response.Track(tracked) != tracked {
		t.Error("a Tracker is tracked again")
	}
	tracked.WriteHeader(http.StatusTeapot)
	tracked.WriteHeader(http.StatusOK)
	if tracked.Write([]byte("x")); tracked.Code != http.StatusTeapot {
		t.Errorf("the code is %d", tracked.Code)
	}
	body := response.Track(httptest.NewRecorder())
	if body.Write([]byte("x")); body.Code != http.StatusOK {
		t.Errorf("the code of an answer without header is %d", body.Code)
	}
	if _, _, err := body.Hijack(); err == nil || body.Code != http.StatusOK {
		t.Errorf("a connection that cannot be taken over is: %v, with code %d", err, body.Code)
	}
	served := make(chan int)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		tracked := response.Track(w)
		if connection, _, err := http.NewResponseController(tracked).Hijack(); err == nil {
			connection.Close()
		}
		served <- tracked.Code
	}))
	defer s.Close()
	go http.Get(s.URL)
	if code := <-served; code != http.StatusSwitchingProtocols {
		t.Errorf("the code of a connection that is taken over is %d", code)
	}
}

// TestAbort ends the connection instead of an answer.
func TestAbort(t *testing.T) {
	w := httptest.NewRecorder()
	defer func() {
		if v := recover(); v != http.ErrAbortHandler || w.Body.Len() > 0 {
			t.Errorf("it panics with %v, and the body is %q", v, w.Body)
		}
	}()
	response.Writer{}.ErrorAs(w, httptest.NewRequest(http.MethodPost, "/", nil), wire.Plain, fmt.Errorf("it fails: %w", wire.ErrAbort))
}
