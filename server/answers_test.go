package server_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/deed-project/deed/server"
)

// widgets is a server that serves widgets.example.org.
func widgets(t *testing.T) *server.Server {
	t.Helper()
	return newServer(t, server.Config{})
}

// ask sends a request; the words of request are a method, a path and headers such as Accept=application/yaml.
func ask(s http.Handler, request, body string) *httptest.ResponseRecorder {
	words := strings.Fields(request)
	r := httptest.NewRequest(words[0], words[1], strings.NewReader(body))
	r.Header.Set("User-Agent", "test/1")
	for _, header := range words[2:] {
		name, text, _ := strings.Cut(header, "=")
		r.Header.Set(name, text)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// Paths and headers of requests.
const (
	core    = "/api/v1/"
	group   = "/apis/example.org/v1/"
	things  = group + "namespaces/default/widgets"
	jsonize = " Content-Type=application/json"
	merge   = " Content-Type=application/merge-patch+json"
	patch   = " Content-Type=application/json-patch+json"
	apply   = " Content-Type=application/apply-patch+yaml"
	web     = `{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"web"},"spec":{"color":"red"}}`
)

// TestAnswers sends the requests of testdata/answers.txt, and compares the answers.
func TestAnswers(t *testing.T) {
	s := widgets(t)
	if w := ask(s, "POST "+things+jsonize, web); w.Code != http.StatusCreated {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	run(t, s, "testdata/answers.txt")
	large := ask(s, "POST "+things+jsonize, strings.Repeat(" ", 3<<20+1))
	want := "Request entity too large: limit is 3145728"
	if got := messageOf(large); large.Code != http.StatusRequestEntityTooLarge || got != want {
		t.Errorf("a body of more than 3 MiB: %d %s", large.Code, got)
	}
}

// TestBuiltinKinds sends the requests of testdata/kinds.txt, and compares the answers.
func TestBuiltinKinds(t *testing.T) { run(t, widgets(t), "testdata/kinds.txt") }

// run sends the requests of a file, which says itself how to read it.
func run(t *testing.T, s http.Handler, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for block := range strings.SplitSeq(string(text), "\n\n") {
		lines := strings.Split(strings.TrimSpace(block), "\n")
		if strings.HasPrefix(lines[0], "#") {
			continue
		}
		asked++
		body := ""
		if len(lines) > 2 {
			body = strings.TrimPrefix(lines[1], "< ")
		}
		code, want, _ := strings.Cut(lines[len(lines)-1], " ")
		w := ask(s, lines[0], body)
		message, holds := messageOf(w), strings.Contains(w.Body.String(), want)
		if strconv.Itoa(w.Code) != code || message == "" && !holds || message != "" && !strings.HasPrefix(message, want) {
			t.Errorf("%s\n got %d %s%s\nwant %s %s", lines[0], w.Code, message, w.Body, code, want)
		}
	}
	if asked < 10 {
		t.Errorf("%s has only %d requests", file, asked)
	}
}

// messageOf returns the message of a Status, and text as such. Answers that are neither have none.
func messageOf(w *httptest.ResponseRecorder) string {
	var status struct{ Kind, Message string }
	body := w.Body.String()
	switch err := json.Unmarshal([]byte(body), &status); {
	case err != nil && body != "":
		return "text: " + body
	case status.Kind == "Status":
		return status.Message
	}
	return ""
}

// TestRepresentations reads one object in each form.
func TestRepresentations(t *testing.T) {
	s := widgets(t)
	ask(s, "POST "+things+jsonize, web)
	for accept, want := range map[string]string{
		"application/yaml": "apiVersion: example.org/v1\nkind: Widget\n",
		"application/json": `{"apiVersion":"example.org/v1","kind":"Widget",`,
		"application/json;as=Table;g=meta.k8s.io;v=v1":                 `"cells":["web",1]`,
		"application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1": `{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata",`,
		"application/vnd.kubernetes.protobuf,application/json":         `{"apiVersion":"example.org/v1",`,
	} {
		if w := ask(s, "GET "+things+"/web Accept="+accept, ""); !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s", accept, w.Code, w.Body)
		}
	}
	pretty := ask(s, "GET "+things+"/web?pretty=true", "").Body.String()
	if !strings.HasPrefix(pretty, "{\n  \"apiVersion\"") || strings.HasSuffix(pretty, "\n") {
		t.Errorf("pretty is %q", pretty)
	}
}

// TestWarnings asks for unknown fields to be told.
func TestWarnings(t *testing.T) {
	s := widgets(t)
	body := `{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"colour":"red","replicas":1,"replicas":2}}`
	w := ask(s, "POST "+things+jsonize, body)
	want := []string{`299 - "duplicate field \"spec.replicas\""`, `299 - "unknown field \"spec.colour\""`}
	if got := w.Header().Values("Warning"); w.Code != http.StatusCreated || strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%d, warnings %q, want %q", w.Code, got, want)
	}
}
