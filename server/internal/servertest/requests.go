package servertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/testing/recording"
	"github.com/deed-project/deed/value"
)

// Parts of requests to [Ask]: paths and headers.
const (
	Core       = "/api/v1/"
	Group      = "/apis/example.org/v1/"
	Things     = Group + "namespaces/default/widgets"
	GaugesPath = Group + "namespaces/default/gauges"
	MapsPath   = Core + "namespaces/default/configmaps"

	DefinitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	MutatingPath    = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
	ValidatingPath  = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"

	JSON           = " Content-Type=application/json"
	MergePatch     = " Content-Type=application/merge-patch+json"
	JSONPatch      = " Content-Type=application/json-patch+json"
	StrategicPatch = " Content-Type=application/strategic-merge-patch+json"
	ApplyPatch     = " Content-Type=application/apply-patch+yaml"

	TableJSON = "application/json;as=Table;v=v1;g=meta.k8s.io" // a media type
)

// Objects in requests.
const (
	Web = `{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"web"},"spec":{"color":"red"}}`
	// Gadgets defines gadgets.example.org, whose objects may have any fields.
	Gadgets = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"gadgets.example.org"},
		"spec":{"group":"example.org","scope":"Namespaced","names":{"kind":"Gadget","plural":"gadgets"},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`
	Deployment = `{"metadata":{"name":"web"},"spec":{"selector":{"matchLabels":{"a":"b"}},
		"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`
	// Gauges defines gauges.example.org, with fields to select by, and columns of all types.
	Gauges = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"gauges.example.org"},"spec":{
	"group":"example.org","scope":"Namespaced","names":{"plural":"gauges","kind":"Gauge"},
	"versions":[{"name":"v1","served":true,"storage":true,
		"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{
			"color":{"type":"string"},"level":{"type":"integer"},"on":{"type":"boolean"},"share":{"type":"number"},"note":{"type":"string"}}}}}},
		"selectableFields":[{"jsonPath":".spec.color"},{"jsonPath":".spec.level"},{"jsonPath":".spec.on"}],
		"additionalPrinterColumns":[{"name":"Color","type":"string","jsonPath":".spec.color"},{"name":"Level","type":"integer","jsonPath":".spec.level"},
			{"name":"Text","type":"string","jsonPath":".spec.level"},{"name":"On","type":"boolean","jsonPath":".spec.on"},
			{"name":"Age","type":"date","jsonPath":".metadata.creationTimestamp"}]}]}}`
)

// Definition returns the definition of a resource of example.org whose objects have no fields of their own.
func Definition(plural string) string {
	return strings.ReplaceAll(`{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": {"name": "PLURAL.example.org"}, "spec": {"group": "example.org", "scope": "Namespaced",
		"names": {"kind": "KPLURAL", "plural": "PLURAL"}, "versions": [{"name": "v1", "served": true, "storage": true,
		"schema": {"openAPIV3Schema": {"type": "object"}}}]}}`, "PLURAL", plural)
}

// Ask sends a request; the words of request are a method, a path and headers such as Accept=application/yaml. AS=TOKEN is the header of a
// bearer token.
func Ask(s http.Handler, request, body string) *httptest.ResponseRecorder {
	words := strings.Fields(request)
	r := httptest.NewRequest(words[0], words[1], strings.NewReader(body))
	r.Header.Set("User-Agent", "test/1")
	for _, header := range words[2:] {
		SetHeader(r.Header, header)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// SetHeader sets the header that a word of [Ask] says.
func SetHeader(h http.Header, word string) {
	name, text, _ := strings.Cut(word, "=")
	if name == "AS" {
		name, text = "Authorization", "Bearer "+text
	}
	h.Set(name, text)
}

// Send sends a request whose answer is JSON, and returns its code and its body. The body of a PATCH is a merge patch.
func Send(t testing.TB, s http.Handler, method, path, body string) (int, value.Value) {
	t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if method == http.MethodPatch {
		r.Header.Set("Content-Type", "application/merge-patch+json")
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	v, err := value.Parse(w.Body.Bytes())
	if err != nil {
		t.Fatalf("%s %s: %v in %s", method, path, err, w.Body)
	}
	return w.Code, v
}

// Create sends a POST, and fails the test unless it creates an object.
func Create(t testing.TB, s http.Handler, path, body string) {
	t.Helper()
	if code, v := Send(t, s, http.MethodPost, path, body); code != http.StatusCreated {
		t.Fatalf("%d %v", code, v)
	}
}

// Parsed returns the body of an answer, which is JSON.
func Parsed(t testing.TB, w *httptest.ResponseRecorder) value.Value {
	t.Helper()
	v, err := value.Parse(w.Body.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Message returns the message of a Status, and "text: " with the body of an answer that is no JSON. For other answers it is empty.
func Message(w *httptest.ResponseRecorder) string {
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

// PlayFile sends the requests of a file, and compares the answers. The head of the file describes its form.
func PlayFile(t testing.TB, s http.Handler, file string) {
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
		w := Ask(s, lines[0], body)
		message, holds := Message(w), strings.Contains(w.Body.String(), want)
		if strconv.Itoa(w.Code) != code || message == "" && !holds || message != "" && !strings.HasPrefix(message, want) {
			t.Errorf("%s\n got %d %s%s\nwant %s %s", lines[0], w.Code, message, w.Body, code, want)
		}
	}
	if asked < 10 {
		t.Errorf("%s has only %d requests", file, asked)
	}
}

// SendStep sends the request of a recorded step, and returns the answer. The resource version $RV stands for the one of the live object.
func SendStep(srv http.Handler, step recording.Step) (recording.Answer, error) {
	body := step.Body
	if body.Get("metadata", "resourceVersion").Str() == "$RV" {
		live, err := SendStep(srv, recording.Step{Method: http.MethodGet, Path: strings.TrimSuffix(step.Path, "/status")})
		if err != nil {
			return live, err
		}
		version := live.Body.Get("metadata", "resourceVersion")
		body = body.With("metadata", body.Get("metadata").With("resourceVersion", version))
	}
	var text []byte
	switch {
	case body.Kind() == value.KindString:
		text = []byte(body.Str())
	case !body.IsAbsent():
		text = body.AppendJSON(nil)
	}
	r := httptest.NewRequest(step.Method, step.Path+"?"+step.Query, bytes.NewReader(text))
	r.Header.Set("Content-Type", step.ContentType)
	w := httptest.NewRecorder()
	srv.ServeHTTP(w, r)
	answer, err := io.ReadAll(w.Body)
	if err != nil {
		return recording.Answer{}, err
	}
	document, err := value.Parse(answer)
	if err != nil {
		document = value.String(string(answer))
	}
	return recording.Answer{Code: w.Code, Body: document, Warnings: w.Header().Values("Warning")}, nil
}

// Listed is a list of widgets, or a Status.
type Listed struct {
	Message, Reason string
	Code            int
	Metadata        struct {
		ResourceVersion, Continue string
		RemainingItemCount        int
	}
	Items []struct {
		Metadata struct{ Name string }
	}
}

// List returns the answer to a list of widgets.
func List(t testing.TB, s http.Handler, query string) Listed {
	t.Helper()
	w := Ask(s, "GET "+Things+"?"+query, "")
	var l Listed
	if err := json.Unmarshal(w.Body.Bytes(), &l); err != nil {
		t.Fatalf("%s: %v in %s", query, err, w.Body)
	}
	l.Code = w.Code
	return l
}

// Names returns the names of the items, one after the other.
func (l Listed) Names() string {
	var b strings.Builder
	for _, item := range l.Items {
		b.WriteString(item.Metadata.Name)
	}
	return b.String()
}

// RandomWrites makes random writes to few objects, so that writers meet. Refusals are part of it.
func RandomWrites(t testing.TB, s http.Handler, random *rand.Rand, writes int) {
	for range writes {
		name := fmt.Sprintf("o%d", random.IntN(8))
		body := fmt.Sprintf(`{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":%q,"labels":{"l":"%d"}},"spec":{"replicas":%d}}`,
			name, random.IntN(2), random.IntN(10))
		var w *httptest.ResponseRecorder
		switch random.IntN(5) {
		case 0:
			w = Ask(s, "DELETE "+Things+"/"+name, "")
		case 1:
			w = Ask(s, "POST "+Things, body)
		default:
			w = Ask(s, "PATCH "+Things+"/"+name+"?fieldManager=m&force=true"+ApplyPatch, body)
		}
		if w.Code >= 500 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
}

// Newer returns the later of two resource versions.
func Newer(a, b string) string {
	if len(a) > len(b) || len(a) == len(b) && strings.Compare(a, b) > 0 {
		return a
	}
	return b
}

// Patterns of text that differs from server to server.
var (
	AnyUID  = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	AnyTime = regexp.MustCompile(`20[2-9]\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
)

// SortedFields returns v with the managed fields of all objects in it in one order.
func SortedFields(v value.Value) value.Value {
	switch v.Kind() {
	case value.KindList:
		var items []value.Value
		for item := range v.Items() {
			items = append(items, SortedFields(item))
		}
		return value.List(items...)
	case value.KindObject:
		for name, member := range v.Members() {
			if name == "managedFields" && member.Kind() == value.KindList {
				v = v.With(name, sortedList(member))
			} else if k := member.Kind(); k == value.KindObject || k == value.KindList {
				v = v.With(name, SortedFields(member))
			}
		}
	}
	return v
}

// sortedList returns the items of a list in one order.
func sortedList(list value.Value) value.Value {
	return value.List(slices.SortedFunc(list.Items(), value.Compare)...)
}
