package webhook_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/errors"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/internal/servertest"
)

// TestWebhooks lets one webhook fill in a label and another refuse what has no owner: as soon as their configurations are written,
// and until these are gone.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	hooks := servertest.HookServer(t, func(path string, request map[string]any) map[string]any {
		if path == "/fill" {
			if request["object"] == nil {
				return map[string]any{"allowed": true}
			}
			return servertest.PatchResponse(`[{"op": "add", "path": "/metadata/labels", "value": {"filled": "in"}}]`)
		}
		object, _ := request["object"].(map[string]any)
		data, _ := object["data"].(map[string]any)
		allowed := data["owner"] != nil || request["operation"] == "DELETE"
		return map[string]any{"allowed": allowed, "status": map[string]any{"message": "who owns it?", "code": 403}}
	})
	s := servertest.Start(t, server.Config{})
	servertest.Create(t, s, servertest.MutatingPath, servertest.HookConfiguration(hooks, "MutatingWebhookConfiguration", "fill", ""))
	servertest.Create(t, s, servertest.ValidatingPath, servertest.HookConfiguration(hooks, "ValidatingWebhookConfiguration", "owned", ""))

	code, refused := servertest.Send(t, s, http.MethodPost, servertest.MapsPath, `{"metadata": {"name": "m"}}`)
	if want := `admission webhook "owned.example.org" denied the request: who owns it?`; refused.Get("message").Str() != want || code != 403 {
		t.Errorf("%d %v, want %s", code, refused, want)
	}
	if code, _ := servertest.Send(t, s, http.MethodGet, servertest.MapsPath+"/m", ""); code != 404 {
		t.Errorf("what was refused is stored: %d", code)
	}
	code, created := servertest.Send(t, s, http.MethodPost, servertest.MapsPath, `{"metadata": {"name": "m"}, "data": {"owner": "me"}}`)
	if code != 201 || created.Get("metadata", "labels", "filled").Str() != "in" {
		t.Errorf("%d %v", code, created)
	}
	if code, v := servertest.Send(t, s, http.MethodPatch, servertest.MapsPath+"/m", `{"data": {"owner": null}}`); code != 403 {
		t.Errorf("the owner goes: %d %v", code, v)
	}
	servertest.Send(t, s, http.MethodDelete, servertest.ValidatingPath+"/owned", "")
	if code, v := servertest.Send(t, s, http.MethodPatch, servertest.MapsPath+"/m", `{"data": {"owner": null}}`); code != 200 {
		t.Errorf("without the configuration: %d %v", code, v)
	}
}

// TestWebhooksOfOtherKinds lets a webhook make another kind or version of what is created: that is refused, and not stored as what it was.
func TestWebhooksOfOtherKinds(t *testing.T) {
	t.Parallel()
	hooks := servertest.HookServer(t, func(_ string, request map[string]any) map[string]any {
		member := map[any]string{"of-kind": "kind", "of-version": "apiVersion"}[request["name"]]
		return servertest.PatchResponse(`[{"op": "replace", "path": "/` + member + `", "value": "other"}]`)
	})
	s := servertest.Start(t, server.Config{})
	servertest.Create(t, s, servertest.MutatingPath, servertest.HookConfiguration(hooks, "MutatingWebhookConfiguration", "change", ""))
	for name, want := range map[string]string{
		"of-kind":    `no kind "other" is registered for version "v1" in scheme`,
		"of-version": `no kind "ConfigMap" is registered for version "other" in scheme`,
	} {
		code, v := servertest.Send(t, s, http.MethodPost, servertest.MapsPath, `{"metadata": {"name": "`+name+`"}}`)
		if code != http.StatusInternalServerError || !strings.Contains(v.Get("message").Str(), want) {
			t.Errorf("%s: %d %v, want %s", name, code, v, want)
		}
	}
}

// TestPlugins puts functions where a cluster has webhooks.
func TestPlugins(t *testing.T) {
	t.Parallel()
	var seen []admission.Operation
	s := servertest.Start(t, server.Config{Admission: admission.Chain{
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
	if code, v := servertest.Send(t, s, http.MethodPost, servertest.MapsPath, `{"metadata": {"name": "m"}, "data": {"a": "1"}}`); code != 201 {
		t.Fatal(v)
	}
	code, v := servertest.Send(t, s, http.MethodPatch, servertest.MapsPath+"/m", `{"data": {"b": "1"}}`)
	if want := `configmaps "m" is forbidden: too much data`; code != 403 || v.Get("message").Str() != want {
		t.Errorf("%d %v, want %s", code, v, want)
	}
	servertest.Send(t, s, http.MethodDelete, servertest.MapsPath+"/m", "")
	if got := fmt.Sprint(seen); got != "[CREATE UPDATE DELETE]" {
		t.Errorf("asked about %s", got)
	}
}

// TestNotYetStored compares what webhooks see of objects whose stored form differs: an apply of empty lists, which the store does not keep,
// and a new claim, whose phase the server removes for the store to add it again. A kube-apiserver calls its webhooks with these parts.
func TestNotYetStored(t *testing.T) {
	t.Parallel()
	seen := map[string]map[string]any{}
	hooks := servertest.HookServer(t, func(path string, request map[string]any) map[string]any {
		seen[path], _ = request["object"].(map[string]any)
		return map[string]any{"allowed": true}
	})
	s := servertest.Start(t, server.Config{})
	everything := strings.NewReplacer(`"apiGroups": [""]`, `"apiGroups": ["*"]`, `"resources": ["configmaps"]`, `"resources": ["endpointslices", "persistentvolumeclaims"]`)
	for kind, path := range map[string]string{"MutatingWebhookConfiguration": servertest.MutatingPath, "ValidatingWebhookConfiguration": servertest.ValidatingPath} {
		servertest.Create(t, s, path, everything.Replace(servertest.HookConfiguration(hooks, kind, strings.ToLower(kind[:4]), "")))
	}
	for _, c := range []struct{ path, object, part, muta, vali string }{
		{"/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", `{"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
			"metadata": {"name": "a"}, "addressType": "IPv4", "endpoints": [], "ports": []}`, "endpoints", "[]", "[]"},
		{"/api/v1/namespaces/default/persistentvolumeclaims", `{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "a"},
			"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}`, "status", "map[phase:Pending]", "map[]"},
	} {
		w := servertest.Ask(s, "PATCH "+c.path+"/a?fieldManager=m Content-Type=application/apply-patch+yaml", c.object)
		if w.Code != http.StatusCreated {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		if muta, vali := fmt.Sprint(seen["/muta"][c.part]), fmt.Sprint(seen["/vali"][c.part]); muta != c.muta || vali != c.vali {
			t.Errorf("%s of %s: mutating webhooks see %s, validating ones %s; want %s and %s", c.part, c.path, muta, vali, c.muta, c.vali)
		}
	}
}
