package server_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/server/wire"
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

// TestRawDataOverHTTP2 sends raw data that is no JSON in protobuf. The stream ends with an internal error, as in kube-apiserver, and the
// connection goes on.
func TestRawDataOverHTTP2(t *testing.T) {
	peer := httptest.NewUnstartedServer(servertest.New(t, server.Config{}))
	peer.EnableHTTP2 = true
	peer.StartTLS()
	defer peer.Close()
	const revisions = "/apis/apps/v1/namespaces/default/controllerrevisions"
	send := func(method, path, raw string) (int, error) {
		message, err := (&appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Name: "r"}, Data: runtime.RawExtension{Raw: []byte(raw)}}).Marshal()
		if err != nil {
			t.Fatal(err)
		}
		body, err := (&runtime.Unknown{Raw: message}).Marshal()
		if err != nil {
			t.Fatal(err)
		}
		r, err := http.NewRequestWithContext(t.Context(), method, peer.URL+path, strings.NewReader("k8s\x00"+string(body)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", wire.Protobuf)
		answer, err := peer.Client().Do(r)
		if err != nil {
			return 0, err
		}
		return answer.StatusCode, answer.Body.Close()
	}
	if _, err := send(http.MethodPost, revisions, "{"); err == nil || !strings.Contains(err.Error(), "INTERNAL_ERROR") {
		t.Errorf("a create: %v", err)
	}
	if code, err := send(http.MethodPost, revisions, "{}"); code != http.StatusCreated || err != nil {
		t.Errorf("the next create: %d %v", code, err)
	}
	if _, err := send(http.MethodPut, revisions+"/r", "z"); err == nil || !strings.Contains(err.Error(), "INTERNAL_ERROR") {
		t.Errorf("an update: %v", err)
	}
}
