package webhook_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
)

// TestSameMeaning lets a webhook change how a list is written, which is no change for a built-in kind: no hook is called again.
func TestSameMeaning(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	hooks := servertest.HookServer(t, func(path string, request map[string]any) map[string]any {
		calls.Add(1)
		if path == "/again" {
			return map[string]any{"allowed": true}
		}
		return servertest.PatchResponse(`[{"op": "add", "path": "/rules", "value": []}]`)
	})
	s := servertest.Start(t, server.Config{})
	ofRoles := strings.NewReplacer(`"apiGroups": [""]`, `"apiGroups": ["*"]`, "configmaps", "roles")
	for _, name := range []string{"again", "written"} {
		configuration := servertest.HookConfiguration(hooks, "MutatingWebhookConfiguration", name, `, "reinvocationPolicy": "IfNeeded"`)
		servertest.Create(t, s, servertest.MutatingPath, ofRoles.Replace(configuration))
	}
	const path = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles"
	if code, v := servertest.Send(t, s, http.MethodPost, path, `{"metadata": {"name": "r"}, "rules": null}`); code != http.StatusCreated {
		t.Fatal(code, v)
	}
	if calls.Load() != 2 {
		t.Errorf("%d calls, want 2", calls.Load())
	}
}

// TestNamespacesOfOtherGroups writes custom resources whose name is namespaces. A selector of namespaces is about their own labels.
func TestNamespacesOfOtherGroups(t *testing.T) {
	t.Parallel()
	hooks := servertest.HookServer(t, func(string, map[string]any) map[string]any { return map[string]any{"allowed": false} })
	s := servertest.Start(t, server.Config{})
	servertest.Create(t, s, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", `{"metadata": {"name": "namespaces.example.org"}, "spec": {
		"group": "example.org", "scope": "Cluster", "names": {"plural": "namespaces", "kind": "Space"}, "versions": [{"name": "v1", "served": true,
		"storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}]}}`)
	configuration := servertest.HookConfiguration(hooks, "ValidatingWebhookConfiguration", "named", `, "namespaceSelector": {"matchLabels": {"a": "b"}}`)
	configuration = strings.NewReplacer(`"apiGroups": [""]`, `"apiGroups": ["*"]`, "configmaps", "namespaces").Replace(configuration)
	servertest.Create(t, s, servertest.ValidatingPath, configuration)
	for labels, want := range map[string]int{`{}`: 201, `{"a": "b"}`: 400} {
		body := fmt.Sprintf(`{"apiVersion": "example.org/v1", "kind": "Space", "metadata": {"generateName": "x", "labels": %s}}`, labels)
		if code, v := servertest.Send(t, s, http.MethodPost, "/apis/example.org/v1/namespaces", body); code != want {
			t.Errorf("labels %s: %d %v, want %d", labels, code, v, want)
		}
	}
}

// TestOwnRequests lets a webhook see the address of a service, which the server creates itself. It names no field manager.
func TestOwnRequests(t *testing.T) {
	t.Parallel()
	seen := make(chan string, 1)
	hooks := servertest.HookServer(t, func(_ string, request map[string]any) map[string]any {
		user, _ := request["userInfo"].(map[string]any)
		seen <- fmt.Sprint(request["options"], user["username"], user["groups"])
		return map[string]any{"allowed": true}
	})
	var c server.Config
	c.Services.ClusterIPRange = netip.MustParsePrefix("10.0.0.0/24")
	s := servertest.Start(t, c)
	configuration := servertest.HookConfiguration(hooks, "ValidatingWebhookConfiguration", "own", "")
	configuration = strings.NewReplacer(`"apiGroups": [""]`, `"apiGroups": ["*"]`, "configmaps", "ipaddresses").Replace(configuration)
	servertest.Create(t, s, servertest.ValidatingPath, configuration)
	const path = "/api/v1/namespaces/default/services"
	if code, v := servertest.Send(t, s, http.MethodPost, path, `{"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}}`); code != http.StatusCreated {
		t.Fatal(code, v)
	}
	want := "map[apiVersion:meta.k8s.io/v1 kind:CreateOptions]system:apiserver[system:authenticated system:masters]"
	if got := <-seen; got != want {
		t.Errorf("seen %s, want %s", got, want)
	}
}
