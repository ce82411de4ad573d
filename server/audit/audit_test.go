package audit_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/audit"
	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/server/logs"
)

// TestAnnotations notes annotations, good and bad, and hands them on.
func TestAnnotations(t *testing.T) {
	var log bytes.Buffer
	var events []audit.Event
	to := audit.Log{
		Sink: func(e audit.Event) { events = append(events, e) },
		Log:  logs.New(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))),
	}
	n := to.New(t.Context(), nil)
	for _, a := range []admission.Annotation{
		{Key: "z.io/b", Value: "1"},
		{Key: "a.io/b", Value: "secret", Body: true},
		{Key: "z.io/b", Value: "1"},
		{Key: "a.io/b", Value: "other"},
		{Key: "none", Value: "x"},
		{Key: "a.io/b/c", Value: "x"},
		{Key: "a.io/no name", Value: "x"},
	} {
		n.Add(a)
	}
	for part, count := range map[string]int{
		"an annotation is not overwritten": 1, "key=a.io/b": 1, "an annotation is not taken": 3, "by=none": 1, "by=a.io": 2, "secret": 0,
	} {
		if got := strings.Count(log.String(), part); got != count {
			t.Errorf("the log has %q %d times, want %d:\n%s", part, got, count, log.String())
		}
	}
	log.Reset()
	r := httptest.NewRequest(http.MethodPost, "/p", nil)
	r = r.WithContext(context.WithValue(r.Context(), auth.ContextKey{}, &auth.User{Name: "jane"}))
	n.Write(r, auth.Action{Verb: "create", Resource: "pods"}, "id1", 201)
	if len(events) != 1 {
		t.Fatalf("there are %d events", len(events))
	}
	e := events[0]
	got := fmt.Sprint(e.ID, " ", e.User.Name, " ", e.Verb, " ", e.Resource, " ", e.Code)
	for _, a := range e.Annotations {
		got += " " + a.Key + "=" + a.Value
	}
	if want := "id1 jane create pods 201 a.io/b=secret z.io/b=1"; got != want {
		t.Errorf("the event is %s, want %s", got, want)
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "level=DEBUG msg=audit id=id1 user=jane verb=create path=/p code=201 key=a.io/b") ||
		!strings.Contains(lines[1], "key=z.io/b") || strings.Contains(log.String(), "secret") {
		t.Errorf("the log is %s", log.String())
	}
	to.New(t.Context(), nil).Write(r, auth.Action{}, "id2", 200)
	if len(events) != 1 {
		t.Error("a request without annotations is an event")
	}
}

// TestNew collects annotations only where they go somewhere.
func TestNew(t *testing.T) {
	at := func(level slog.Level) logs.Logger {
		return logs.New(slog.New(slog.NewTextHandler(&bytes.Buffer{}, &slog.HandlerOptions{Level: level})))
	}
	for _, c := range []struct {
		log  audit.Log
		want bool
	}{
		{audit.Log{}, false},
		{audit.Log{Log: at(slog.LevelInfo)}, false},
		{audit.Log{Log: at(slog.LevelDebug)}, true},
		{audit.Log{Sink: func(audit.Event) {}}, true},
	} {
		n := c.log.New(t.Context(), nil)
		if got := n != nil; got != c.want {
			t.Errorf("%+v collects annotations: %v", c.log, got)
		}
		if n != nil {
			n.Add(admission.Annotation{Key: "a.io/b"})
			n.Write(httptest.NewRequest(http.MethodGet, "/", nil), auth.Action{}, "", 200)
		}
	}
}
