package webhook_test

import (
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
)

// serviceHook is a webhook behind a service: it allows everything, and notes who asks.
type serviceHook struct {
	*httptest.Server
	ca string

	mu    sync.Mutex
	asked []string
}

// startServiceHook starts the webhook of the service hook in the namespace system.
func startServiceHook(t *testing.T) *serviceHook {
	certificate, trusted, err := server.SelfSigned(time.Now(), "hook.system.svc")
	if err != nil {
		t.Fatal(err)
	}
	h := &serviceHook{ca: base64.StdEncoding.EncodeToString(trusted)}
	h.Server = httptest.NewUnstartedServer(h)
	h.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	h.Config.ErrorLog = log.New(io.Discard, "", 0)
	h.StartTLS()
	t.Cleanup(h.Close)
	return h
}

// ServeHTTP allows what it is asked about.
func (h *serviceHook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var review struct{ Request struct{ UID string } }
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	h.mu.Lock()
	h.asked = append(h.asked, strings.TrimSpace(fmt.Sprint(r.Proto, " ", r.Host, r.URL.Path, " ", r.Header.Get("Authorization"))))
	h.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "response": {"uid": %q, "allowed": true}}`,
		review.Request.UID)
}

// configuration asks the webhook about ConfigMaps, at a port of its service.
func (h *serviceHook) configuration(port int) string {
	return fmt.Sprintf(`{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "s"},
		"webhooks": [{"name": "s.example.org", "sideEffects": "None", "admissionReviewVersions": ["v1"],
		"clientConfig": {"service": {"name": "hook", "namespace": "system", "path": "/look", "port": %d}, "caBundle": %q},
		"rules": [{"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}]}]}`, port, h.ca)
}

// expect creates a ConfigMap, and expects an answer, and that the webhook was asked or not.
func (h *serviceHook) expect(t *testing.T, s http.Handler, message, asked string) {
	t.Helper()
	code, v := servertest.Send(t, s, http.MethodPost, servertest.MapsPath+"?dryRun=All", `{"metadata": {"name": "m"}}`)
	if got := v.Get("message").Str(); got != message || code != map[bool]int{true: 201, false: 500}[message == ""] {
		t.Errorf("%d %q, want %q", code, got, message)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if got := strings.Join(h.asked, ", "); got != asked {
		t.Errorf("asked %q, want %q", got, asked)
	}
	h.asked = nil
}

const (
	failedPost = `Internal error occurred: failed calling webhook "s.example.org": failed to call webhook: ` +
		`Post "https://hook.system.svc:%d/look?timeout=10s": %s`
	systemSpace = `{"metadata": {"name": "system"}}`
)

// TestServiceHooks finds a webhook by the Service and the EndpointSlices that lead to it, as they come and change.
func TestServiceHooks(t *testing.T) {
	t.Parallel()
	h := startServiceHook(t)
	host, port, err := net.SplitHostPort(h.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	s := servertest.Start(t, server.Config{})
	servertest.Create(t, s, "/api/v1/namespaces", systemSpace)
	servertest.Create(t, s, servertest.ValidatingPath, h.configuration(8443))
	h.expect(t, s, fmt.Sprintf(failedPost, 8443, `service "hook" not found`), "")
	servertest.Create(t, s, "/api/v1/namespaces/system/services", `{"metadata": {"name": "hook"}, "spec": {"ports": [
		{"name": "plain", "port": 80, "targetPort": 1}, {"name": "tls", "port": 8443, "targetPort": 2}]}}`)
	h.expect(t, s, fmt.Sprintf(failedPost, 8443, `no endpoints available for service "hook"`), "")
	slice := func(name, address, ready string) string {
		return fmt.Sprintf(`{"metadata": {"name": %q, "labels": {"kubernetes.io/service-name": "hook"}}, "addressType": "IPv4",
			"endpoints": [{"addresses": [%q], "conditions": {"ready": %s}}], "ports": [{"name": "plain", "port": 1}, {"name": "tls", "port": %s}]}`,
			name, address, ready, port)
	}
	const slices = "/apis/discovery.k8s.io/v1/namespaces/system/endpointslices"
	servertest.Create(t, s, slices, slice("a", "127.0.0.2", "false"))
	h.expect(t, s, fmt.Sprintf(failedPost, 8443, `no endpoints available for service "hook"`), "")
	servertest.Create(t, s, slices, slice("b", host, "true"))
	h.expect(t, s, "", "HTTP/1.1 hook.system.svc:8443/look")
	servertest.Send(t, s, http.MethodDelete, servertest.ValidatingPath+"/s", "")
	servertest.Create(t, s, servertest.ValidatingPath, h.configuration(444))
	h.expect(t, s, fmt.Sprintf(failedPost, 444, `no service port 444 found for service "hook"`), "")
}

// TestExternalHooks finds a webhook behind a service that is another name for it.
func TestExternalHooks(t *testing.T) {
	t.Parallel()
	h := startServiceHook(t)
	port := h.Listener.Addr().(*net.TCPAddr).Port
	s := servertest.Start(t, server.Config{})
	servertest.Create(t, s, "/api/v1/namespaces", systemSpace)
	servertest.Create(t, s, "/api/v1/namespaces/system/services", fmt.Sprintf(`{"metadata": {"name": "hook"}, "spec": {"type": "ExternalName",
		"externalName": "localhost", "ports": [{"port": %d}]}}`, port))
	servertest.Create(t, s, servertest.ValidatingPath, h.configuration(port))
	h.expect(t, s, "", fmt.Sprintf("HTTP/1.1 hook.system.svc:%d/look", port))
}

// TestResolvedHooks finds a webhook where the server is told that it is, and says to it who it is.
func TestResolvedHooks(t *testing.T) {
	t.Parallel()
	h := startServiceHook(t)
	users := filepath.Join(t.TempDir(), "users")
	for _, c := range []struct{ user, credentials, asked string }{
		{"hook.system.svc", `{token: secret}`, " Bearer secret"},
		{"*.system.svc", `{username: me, password: pass}`, " Basic " + base64.StdEncoding.EncodeToString([]byte("me:pass"))},
		{"other.system.svc", `{token: secret}`, ""},
	} {
		text := fmt.Sprintf("apiVersion: v1\nkind: Config\nusers:\n- name: %q\n  user: %s\n", c.user, c.credentials)
		if err := os.WriteFile(users, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s := servertest.Start(t, server.Config{Webhooks: server.Webhooks{
			Resolve: map[string]string{"hook.system": h.Listener.Addr().String()}, Credentials: users,
		}})
		servertest.Create(t, s, "/api/v1/namespaces", systemSpace)
		servertest.Create(t, s, servertest.ValidatingPath, h.configuration(443))
		h.expect(t, s, "", "HTTP/1.1 hook.system.svc:443/look"+c.asked)
	}
}
