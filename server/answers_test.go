package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/deed-project/deed/server/internal/servertest"
)

// TestAnswers sends the requests of testdata/answers.txt, and compares the answers.
func TestAnswers(t *testing.T) {
	s := servertest.Widgets(t)
	if w := servertest.Ask(s, "POST "+servertest.Things+servertest.JSON, servertest.Web); w.Code != http.StatusCreated {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	servertest.PlayFile(t, s, "testdata/answers.txt")
	large := servertest.Ask(s, "POST "+servertest.Things+servertest.JSON, strings.Repeat(" ", 3<<20+1))
	want := "Request entity too large: limit is 3145728"
	if got := servertest.Message(large); large.Code != http.StatusRequestEntityTooLarge || got != want {
		t.Errorf("a body of more than 3 MiB: %d %s", large.Code, got)
	}
}

// TestBuiltinKinds sends the requests of testdata/kinds.txt, and compares the answers.
func TestBuiltinKinds(t *testing.T) {
	servertest.PlayFile(t, servertest.Widgets(t), "testdata/kinds.txt")
}

// TestRepresentations reads one object in each form.
func TestRepresentations(t *testing.T) {
	s := servertest.Widgets(t)
	servertest.Ask(s, "POST "+servertest.Things+servertest.JSON, servertest.Web)
	for accept, want := range map[string]string{
		"application/yaml": "apiVersion: example.org/v1\nkind: Widget\n",
		"application/json": `{"apiVersion":"example.org/v1","kind":"Widget",`,
		"application/json;as=Table;g=meta.k8s.io;v=v1":                 `"cells":["web",1]`,
		"application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1": `{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata",`,
		"application/vnd.kubernetes.protobuf,application/json":         `{"apiVersion":"example.org/v1",`,
	} {
		if w := servertest.Ask(s, "GET "+servertest.Things+"/web Accept="+accept, ""); !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s", accept, w.Code, w.Body)
		}
	}
	pretty := servertest.Ask(s, "GET "+servertest.Things+"/web?pretty=true", "").Body.String()
	if !strings.HasPrefix(pretty, "{\n  \"apiVersion\"") || strings.HasSuffix(pretty, "\n") {
		t.Errorf("pretty is %q", pretty)
	}
}

// TestWarnings asks for unknown fields to be told.
func TestWarnings(t *testing.T) {
	s := servertest.Widgets(t)
	body := `{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"colour":"red","replicas":1,"replicas":2}}`
	w := servertest.Ask(s, "POST "+servertest.Things+servertest.JSON, body)
	want := []string{`299 - "duplicate field \"spec.replicas\""`, `299 - "unknown field \"spec.colour\""`}
	if got := w.Header().Values("Warning"); w.Code != http.StatusCreated || strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%d, warnings %q, want %q", w.Code, got, want)
	}
}
