package audit_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/audit"
	"github.com/deed-project/deed/server/internal/servertest"
)

// TestAudit collects what webhooks note about a request, and what the server notes about them.
func TestAudit(t *testing.T) {
	t.Parallel()
	answers := map[string]map[string]any{
		"/a": servertest.PatchResponse(`[{"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}]`),
		"/b": {"allowed": true},
		"/c": {"allowed": true, "patchType": "JSONPatch"}, // without a patch: it fails, and is passed over
		"/d": {"allowed": true},
		"/e": {"allowed": true, "patchType": "JSONPatch"},
		"/f": {"allowed": false},
	}
	answers["/a"]["auditAnnotations"] = map[string]any{"why": "it lacked a label", "not a name!": "x"}
	answers["/d"]["auditAnnotations"] = map[string]any{"why": "no reason"}
	hooks := servertest.HookServer(t, func(path string, _ map[string]any) map[string]any { return maps.Clone(answers[path]) })
	var mu sync.Mutex
	var events []audit.Event
	s := servertest.Start(t, server.Config{Audit: func(e audit.Event) {
		mu.Lock()
		defer mu.Unlock()
		events = append(events, e)
	}})
	for name, path := range map[string]string{
		"a": servertest.MutatingPath, "b": servertest.MutatingPath, "c": servertest.MutatingPath, "d": servertest.ValidatingPath, "e": servertest.ValidatingPath, "f": servertest.ValidatingPath,
	} {
		kind := map[string]string{servertest.MutatingPath: "MutatingWebhookConfiguration", servertest.ValidatingPath: "ValidatingWebhookConfiguration"}[path]
		more := ""
		if name == "a" || name == "b" {
			more = `, "reinvocationPolicy": "IfNeeded"`
		}
		servertest.Create(t, s, path, servertest.HookConfiguration(hooks, kind, name, more+`, "failurePolicy": "Ignore"`))
	}
	if code, v := servertest.Send(t, s, http.MethodPost, servertest.MapsPath, `{"metadata": {"name": "m"}}`); code != http.StatusBadRequest {
		t.Fatal(code, v)
	}
	servertest.Send(t, s, http.MethodGet, servertest.MapsPath+"/m", "")
	mu.Lock()
	defer mu.Unlock()
	if len(events) != 1 {
		t.Fatalf("%d events, want 1: %v", len(events), events)
	}
	e := events[0]
	if e.ID == "" || e.User.Name != "system:apiserver" || e.Verb != "create" || e.Resource != "configmaps" || e.Code != 400 {
		t.Errorf("%+v", e)
	}
	var got []string
	for _, a := range e.Annotations {
		got = append(got, fmt.Sprintf("%s %v %s", a.Key, a.Body, a.Value))
	}
	want := strings.Split(strings.TrimSpace(`
a.example.org/why false it lacked a label
d.example.org/why false no reason
failed-open.mutation.webhook.admission.k8s.io/round_0_index_2 false c.example.org
failed-open.validating.webhook.admission.k8s.io/round_0_index_1 false e.example.org
mutation.webhook.admission.k8s.io/round_0_index_0 false {"configuration":"a","webhook":"a.example.org","mutated":true}
mutation.webhook.admission.k8s.io/round_0_index_1 false {"configuration":"b","webhook":"b.example.org","mutated":false}
mutation.webhook.admission.k8s.io/round_0_index_2 false {"configuration":"c","webhook":"c.example.org","mutated":false}
patch.webhook.admission.k8s.io/round_0_index_0 true {"configuration":"a","webhook":"a.example.org",`+
		`"patch":[{"op":"add","path":"/metadata/labels","value":{"a":"b"}}],"patchType":"JSONPatch"}`), "\n")
	if !slices.Equal(got, want) {
		t.Errorf("noted\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// TestMutated has a webhook patch what no ConfigMap has. The first patch counts as a change, because the times of managed fields have fractions
// of seconds until the object is decoded from a text, unless a policy has changed the object before. A kube-apiserver v1.37 answers so.
func TestMutated(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		policy, want string
	}{{"", "true"}, {policy, "false"}} {
		hooks := servertest.HookServer(t, func(string, map[string]any) map[string]any {
			return servertest.PatchResponse(`[{"op": "add", "path": "/nope", "value": 1}]`)
		})
		mutated := make(chan string, 1)
		s := servertest.Start(t, server.Config{
			Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 600_000_000, time.UTC) },
			Audit: func(e audit.Event) {
				if e.Resource == "configmaps" {
					mutated <- fmt.Sprint(e.Annotations)
				}
			},
		})
		if c.policy != "" {
			const path = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolic"
			servertest.Create(t, s, path+"ies", c.policy)
			servertest.Create(t, s, path+"ybindings", `{"metadata": {"name": "p"}, "spec": {"policyName": "p"}}`)
		}
		servertest.Create(t, s, servertest.MutatingPath, servertest.HookConfiguration(hooks, "MutatingWebhookConfiguration", "a", ""))
		servertest.Create(t, s, servertest.MapsPath, `{"metadata": {"name": "m"}, "data": {"a": "b"}}`)
		if got := <-mutated; !strings.Contains(got, `"mutated":`+c.want+"}") {
			t.Errorf("with the policy %q: %s, want %s", c.policy, got, c.want)
		}
	}
}

// policy labels ConfigMaps.
const policy = `{"metadata": {"name": "p"}, "spec": {
	"matchConstraints": {"resourceRules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}]},
	"failurePolicy": "Fail", "reinvocationPolicy": "Never",
	"mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {
		"expression": "Object{metadata: Object.metadata{labels: {'p': 'q'}}}"}}]}}`
