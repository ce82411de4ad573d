package server_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/errors"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/value"
)

// hookServer is a webhook: it answers each review with what answer returns as the response, without its uid.
func hookServer(t *testing.T, answer func(path string, request map[string]any) map[string]any) *httptest.Server {
	t.Helper()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		var review map[string]any
		if err := json.Unmarshal(body, &review); err != nil {
			t.Errorf("%s: %v", body, err)
		}
		request := review["request"].(map[string]any)
		response := answer(r.URL.Path, request)
		response["uid"] = request["uid"]
		review["response"] = response
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(review)
	}))
	t.Cleanup(s.Close)
	return s
}

// configuration returns a configuration of one webhook for ConfigMaps.
func configuration(s *httptest.Server, kind, name, more string) string {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	return fmt.Sprintf(`{"apiVersion": "admissionregistration.k8s.io/v1", "kind": %q, "metadata": {"name": %q}, "webhooks": [{
		"name": "%[2]s.example.org", "sideEffects": "None", "admissionReviewVersions": ["v1"],
		"clientConfig": {"url": "%[3]s/%[2]s", "caBundle": %[4]q},
		"rules": [{"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}]%[5]s}]}`,
		kind, name, s.URL, base64.StdEncoding.EncodeToString(ca), more)
}

const (
	mutatingPath   = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
	validatingPath = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
	mapsPath       = "/api/v1/namespaces/default/configmaps"
)

func startServer(t testing.TB, c server.Config) *server.Server {
	t.Helper()
	c.Log, c.Limits = slog.New(slog.DiscardHandler), unhurried(c.Limits)
	s, err := server.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// request sends a request, and returns the answer.
func request(t testing.TB, s http.Handler, method, path, body string) (int, value.Value) {
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

// configure creates a configuration.
func configure(t testing.TB, s http.Handler, path, body string) {
	t.Helper()
	if code, v := request(t, s, http.MethodPost, path, body); code != http.StatusCreated {
		t.Fatalf("%d %v", code, v)
	}
}

func jsonPatch(patch string) map[string]any {
	return map[string]any{
		"allowed": true, "patchType": "JSONPatch", "patch": base64.StdEncoding.EncodeToString([]byte(patch)),
	}
}

// TestWebhooks lets one webhook fill in a label and another refuse what has no owner: as soon as their configurations are written,
// and until these are gone.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	hooks := hookServer(t, func(path string, request map[string]any) map[string]any {
		if path == "/fill" {
			if request["object"] == nil {
				return map[string]any{"allowed": true}
			}
			return jsonPatch(`[{"op": "add", "path": "/metadata/labels", "value": {"filled": "in"}}]`)
		}
		object, _ := request["object"].(map[string]any)
		data, _ := object["data"].(map[string]any)
		allowed := data["owner"] != nil || request["operation"] == "DELETE"
		return map[string]any{"allowed": allowed, "status": map[string]any{"message": "who owns it?", "code": 403}}
	})
	s := startServer(t, server.Config{})
	configure(t, s, mutatingPath, configuration(hooks, "MutatingWebhookConfiguration", "fill", ""))
	configure(t, s, validatingPath, configuration(hooks, "ValidatingWebhookConfiguration", "owned", ""))

	code, refused := request(t, s, http.MethodPost, mapsPath, `{"metadata": {"name": "m"}}`)
	if want := `admission webhook "owned.example.org" denied the request: who owns it?`; refused.Get("message").Str() != want || code != 403 {
		t.Errorf("%d %v, want %s", code, refused, want)
	}
	if code, _ := request(t, s, http.MethodGet, mapsPath+"/m", ""); code != 404 {
		t.Errorf("what was refused is stored: %d", code)
	}
	code, created := request(t, s, http.MethodPost, mapsPath, `{"metadata": {"name": "m"}, "data": {"owner": "me"}}`)
	if code != 201 || created.Get("metadata", "labels", "filled").Str() != "in" {
		t.Errorf("%d %v", code, created)
	}
	if code, v := request(t, s, http.MethodPatch, mapsPath+"/m", `{"data": {"owner": null}}`); code != 403 {
		t.Errorf("the owner goes: %d %v", code, v)
	}
	request(t, s, http.MethodDelete, validatingPath+"/owned", "")
	if code, v := request(t, s, http.MethodPatch, mapsPath+"/m", `{"data": {"owner": null}}`); code != 200 {
		t.Errorf("without the configuration: %d %v", code, v)
	}
}

// TestWebhooksOfOtherKinds lets a webhook make another kind or version of what is created: that is refused, and not stored as what it was.
func TestWebhooksOfOtherKinds(t *testing.T) {
	t.Parallel()
	hooks := hookServer(t, func(_ string, request map[string]any) map[string]any {
		member := map[any]string{"of-kind": "kind", "of-version": "apiVersion"}[request["name"]]
		return jsonPatch(`[{"op": "replace", "path": "/` + member + `", "value": "other"}]`)
	})
	s := startServer(t, server.Config{})
	configure(t, s, mutatingPath, configuration(hooks, "MutatingWebhookConfiguration", "change", ""))
	for name, want := range map[string]string{
		"of-kind":    `no kind "other" is registered for version "v1" in scheme`,
		"of-version": `no kind "ConfigMap" is registered for version "other" in scheme`,
	} {
		code, v := request(t, s, http.MethodPost, mapsPath, `{"metadata": {"name": "`+name+`"}}`)
		if code != http.StatusInternalServerError || !strings.Contains(v.Get("message").Str(), want) {
			t.Errorf("%s: %d %v, want %s", name, code, v, want)
		}
	}
}

// TestPlugins puts functions where a cluster has webhooks.
func TestPlugins(t *testing.T) {
	t.Parallel()
	var seen []admission.Operation
	s := startServer(t, server.Config{Admission: admission.Chain{
		admission.Mutate(func(_ context.Context, r *admission.Request) error {
			seen = append(seen, r.Operation)
			return nil
		}),
		admission.Validate(func(_ context.Context, r *admission.Request) error {
			if r.Resource.Resource == "configmaps" && r.Object.Content().Get("data").Len() > 1 {
				return errors.NewForbidden(kschema.GroupResource{Resource: "configmaps"}, r.Name, fmt.Errorf("too much data"))
			}
			return nil
		}),
	}})
	seen = nil // those of what a server begins with
	if code, v := request(t, s, http.MethodPost, mapsPath, `{"metadata": {"name": "m"}, "data": {"a": "1"}}`); code != 201 {
		t.Fatal(v)
	}
	code, v := request(t, s, http.MethodPatch, mapsPath+"/m", `{"data": {"b": "1"}}`)
	if want := `configmaps "m" is forbidden: too much data`; code != 403 || v.Get("message").Str() != want {
		t.Errorf("%d %v, want %s", code, v, want)
	}
	request(t, s, http.MethodDelete, mapsPath+"/m", "")
	if got := fmt.Sprint(seen); got != "[CREATE UPDATE DELETE]" {
		t.Errorf("asked about %s", got)
	}
}
