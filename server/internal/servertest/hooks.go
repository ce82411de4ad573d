package servertest

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// HookServer starts an admission webhook. answer returns the response to the request of a review, without its uid.
func HookServer(t testing.TB, answer func(path string, request map[string]any) map[string]any) *httptest.Server {
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

// HookConfiguration returns a configuration of one webhook of s for ConfigMaps. more is JSON that follows the last member of the webhook.
func HookConfiguration(s *httptest.Server, kind, name, more string) string {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	return fmt.Sprintf(`{"apiVersion": "admissionregistration.k8s.io/v1", "kind": %q, "metadata": {"name": %q}, "webhooks": [{
		"name": "%[2]s.example.org", "sideEffects": "None", "admissionReviewVersions": ["v1"],
		"clientConfig": {"url": "%[3]s/%[2]s", "caBundle": %[4]q},
		"rules": [{"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}]%[5]s}]}`,
		kind, name, s.URL, base64.StdEncoding.EncodeToString(ca), more)
}

// PatchResponse returns a response that allows the request and has a JSON patch.
func PatchResponse(patch string) map[string]any {
	return map[string]any{
		"allowed": true, "patchType": "JSONPatch", "patch": base64.StdEncoding.EncodeToString([]byte(patch)),
	}
}
