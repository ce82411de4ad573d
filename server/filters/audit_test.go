package filters_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	auditapi "k8s.io/apiserver/pkg/apis/audit"

	"github.com/deed-project/deed/server/audit"
	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/server/filters"
	"github.com/deed-project/deed/server/request"
)

// sink collects events in a short form, and fails if it is told to.
type sink struct {
	events []string
	fails  bool
}

func (s *sink) ProcessEvents(events ...*auditapi.Event) bool {
	for _, e := range events {
		text := string(e.Stage) + " " + e.User.Username
		if r := e.ResponseStatus; r != nil {
			text += fmt.Sprintf(" %d %s", r.Code, r.Message)
		}
		s.events = append(s.events, strings.TrimSpace(text))
	}
	return !s.fails
}

// TestAudit records requests that end in each way.
func TestAudit(t *testing.T) {
	var to sink
	recorder, err := audit.NewRecorder([]byte(`{"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": [
{"level": "None", "nonResourceURLs": ["/none"]}, {"level": "Request", "nonResourceURLs": ["/bodies"]}, {"level": "Metadata"}]}`), &to)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		next http.HandlerFunc
		want []string
	}{
		{"/none", func(http.ResponseWriter, *http.Request) {}, nil},
		{"/x", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) },
			[]string{"RequestReceived bob", "ResponseComplete bob 418"}},
		{"/x", func(http.ResponseWriter, *http.Request) {}, []string{"RequestReceived bob", "ResponseComplete bob 200 Connection closed early"}},
		{"/x", func(http.ResponseWriter, *http.Request) { panic("no") }, []string{"RequestReceived bob", "Panic bob 500 APIServer panic'd"}},
		{"/bodies", func(http.ResponseWriter, *http.Request) { panic("no") }, []string{"RequestReceived bob", "Panic bob 500 APIServer panic'd: no"}},
		{"/api/v1/pods?watch=1", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) },
			[]string{"RequestReceived bob", "ResponseStarted bob 200", "ResponseComplete bob 200"}},
		{"/api/v1/pods?watch=1", func(http.ResponseWriter, *http.Request) {},
			[]string{"RequestReceived bob", "ResponseStarted bob 200 Connection closed early", "ResponseComplete bob 200 Connection closed early"}},
		{"/api/v1/pods?watch=1", func(w http.ResponseWriter, r *http.Request) {
			request.From(r.Context()).After = func() int64 { w.WriteHeader(http.StatusAccepted); return 0 }
		}, []string{"RequestReceived bob", "ResponseStarted bob 202", "ResponseComplete bob 202"}},
	} {
		to.events = nil
		r, info := newRequest(http.MethodGet, c.path, auth.User{Name: "bob"})
		func() {
			defer func() { _ = recover() }()
			filters.WithAudit(recorder, c.next)(httptest.NewRecorder(), r)
			if info.After != nil {
				info.After()
			}
		}()
		if !slices.Equal(to.events, c.want) {
			t.Errorf("%s: %q, want %q", c.path, to.events, c.want)
		}
	}
	to.fails = true
	r, _ := newRequest(http.MethodGet, "/x", auth.User{Name: "bob"})
	w := httptest.NewRecorder()
	filters.WithAudit(recorder, func(http.ResponseWriter, *http.Request) { t.Error("a request is carried out whose event is lost") })(w, r)
	if want := "Internal Server Error: \"/x\": failed to store audit event\n"; w.Code != http.StatusInternalServerError || w.Body.String() != want {
		t.Errorf("%d %q, want %q", w.Code, w.Body, want)
	}
}
