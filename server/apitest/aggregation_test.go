package apitest_test

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"github.com/deed-project/deed/server/apitest"
)

// TestResolve reads objects of another API server through clients of this one, by a service that exists only for the resolver, first with
// a certificate that is for another name.
func TestResolve(t *testing.T) {
	extension := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/apis/ext.example.com/v1":
			fmt.Fprint(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"ext.example.com/v1","resources":[
				{"name":"things","singularName":"thing","namespaced":false,"kind":"Thing","verbs":["get","list"]}]}`)
		case "/apis/ext.example.com/v1/things/a":
			fmt.Fprintf(w, `{"kind":"Thing","apiVersion":"ext.example.com/v1","metadata":{"name":"a"},"user":%q}`, r.Header.Get("X-Remote-User"))
		default:
			http.NotFound(w, r)
		}
	}))
	defer extension.Close()
	s := apitest.Start(t, apitest.Resolve("default", "extension", extension.Listener.Addr().String()))
	c := dynamic.NewForConfigOrDie(s.RESTConfig())
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: extension.Certificate().Raw})
	registered := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{"name": "v1.ext.example.com"},
		"spec": map[string]any{
			"group": "ext.example.com", "version": "v1", "groupPriorityMinimum": int64(100), "versionPriority": int64(1),
			"service": map[string]any{"namespace": "default", "name": "extension"}, "caBundle": bundle,
		},
	}}
	services := c.Resource(schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"})
	condition := func(status string) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			got, err := services.Get(t.Context(), "v1.ext.example.com", metav1.GetOptions{})
			if err != nil || time.Now().After(deadline) {
				t.Fatalf("%v: %v", got, err)
			}
			conditions, _, _ := unstructured.NestedSlice(got.Object, "status", "conditions")
			if len(conditions) == 1 && conditions[0].(map[string]any)["status"] == status {
				return
			}
		}
	}
	if _, err := services.Create(t.Context(), registered, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	condition("False") // because the certificate is for another name
	patch := []byte(`{"spec":{"caBundle":null,"insecureSkipTLSVerify":true}}`)
	if _, err := services.Patch(t.Context(), "v1.ext.example.com", "application/merge-patch+json", patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	condition("True")
	things := c.Resource(schema.GroupVersionResource{Group: "ext.example.com", Version: "v1", Resource: "things"})
	thing, err := things.Get(t.Context(), "a", metav1.GetOptions{})
	for deadline := time.Now().Add(time.Minute); apierrors.IsServiceUnavailable(err) && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		// The proxy follows the store, as in kube-apiserver: a client may read the condition first.
		thing, err = things.Get(t.Context(), "a", metav1.GetOptions{})
	}
	if err != nil || thing.Object["user"] != "system:apiserver" {
		t.Errorf("the thing is %v, %v", thing, err)
	}
	_, resources, err := discovery.NewDiscoveryClientForConfigOrDie(s.RESTConfig()).ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range resources {
		if list.GroupVersion == "ext.example.com/v1" && len(list.APIResources) == 1 && list.APIResources[0].Kind == "Thing" {
			return
		}
	}
	t.Errorf("discovery has no things: %v", resources)
}
