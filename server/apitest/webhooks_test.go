package apitest_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/deed-project/deed/server/apitest"
)

const webhooks = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: widgets}
webhooks:
- name: default.widgets.example.org
  clientConfig: {service: {name: webhook, namespace: system, path: /mutate}}
  rules: [{apiGroups: [example.org], apiVersions: [v1], operations: [CREATE], resources: [widgets]}]
  sideEffects: None
  admissionReviewVersions: [v1]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: widgets}
webhooks:
- name: validate.widgets.example.org
  clientConfig: {url: "https://elsewhere.example.org/validate"}
  rules: [{apiGroups: [example.org], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [widgets]}]
  sideEffects: None
  admissionReviewVersions: [v1]
---
apiVersion: v1
kind: Service
metadata: {name: webhook, namespace: system}
`

// answer returns a handler that answers a review with the outcome of decide.
func answer(decide func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		review.Response = decide(review.Request)
		review.Response.UID = review.Request.UID
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(review)
	}
}

// twoVersions is a definition for a cluster without a conversion webhook.
const twoVersions = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.org}
spec:
  group: example.org
  scope: Namespaced
  names: {kind: Gadget, plural: gadgets}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
  - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`

// TestConversion converts objects in the test's process: of a definition with the strategy Webhook, and of a named one.
func TestConversion(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("/convert", func(w http.ResponseWriter, r *http.Request) {
		var review apiextensionsv1.ConversionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		response := &apiextensionsv1.ConversionResponse{UID: review.Request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
		for _, o := range review.Request.Objects {
			text := strings.Replace(string(o.Raw), `"apiVersion":"example.org/v1"`, `"apiVersion":"example.org/v2"`, 1)
			text = strings.Replace(text, `"old":`, `"new":`, 1)
			response.ConvertedObjects = append(response.ConvertedObjects, runtime.RawExtension{Raw: []byte(text)})
		}
		review.Response = response
		json.NewEncoder(w).Encode(review)
	})
	says := strings.Replace(twoVersions, "  group:", `  conversion:
    strategy: Webhook
    webhook: {conversionReviewVersions: [v1], clientConfig: {service: {name: a, namespace: b, path: /convert}}}
  group:`, 1)
	for name, with := range map[string][]apitest.Option{
		"named": {apitest.YAML(twoVersions), apitest.Conversion(mux, "gadgets.example.org")},
		"says":  {apitest.YAML(says), apitest.Conversion(mux)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := apitest.Start(t, with...)
			s.Apply(`{apiVersion: example.org/v1, kind: Gadget, metadata: {name: g}, old: x}`)
			gadgets := dynamic.NewForConfigOrDie(s.RESTConfig()).Resource(schema.GroupVersionResource{
				Group: "example.org", Version: "v2", Resource: "gadgets",
			})
			got := must[*unstructured.Unstructured](t)(gadgets.Namespace("default").Get(t.Context(), "g", metav1.GetOptions{}))
			if got.Object["new"] != "x" || got.GetAPIVersion() != "example.org/v2" {
				t.Errorf("%v is not converted", got.Object)
			}
		})
	}
}

// TestWebhooks runs the webhooks of a directory in the test's process: one sets a color, one refuses blue.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "manifests.yaml"), []byte(webhooks), 0o600); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	patchType := admissionv1.PatchTypeJSONPatch
	mux.Handle("/mutate", answer(func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		patch := []byte(`[{"op": "add", "path": "/metadata/labels", "value": {"mutated": "yes"}}]`)
		return &admissionv1.AdmissionResponse{Allowed: true, Patch: patch, PatchType: &patchType}
	}))
	mux.Handle("/validate", answer(func(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		blue := strings.Contains(string(r.Object.Raw), `"color":"blue"`)
		return &admissionv1.AdmissionResponse{Allowed: !blue, Result: &metav1.Status{Message: "not blue"}, Warnings: []string{"looked"}}
	}))
	_, widgets := start(t, apitest.Webhooks(folder, mux))
	ctx, ok := t.Context(), must[*unstructured.Unstructured](t)
	created := ok(widgets.Create(ctx, widget("web", map[string]any{"color": "red"}), metav1.CreateOptions{}))
	if created.GetLabels()["mutated"] != "yes" {
		t.Errorf("the object was not mutated: %v", created.Object["metadata"])
	}
	_, err := widgets.Apply(ctx, "web", widget("web", map[string]any{"color": "blue"}), metav1.ApplyOptions{FieldManager: "a", Force: true})
	want := `admission webhook "validate.widgets.example.org" denied the request: not blue`
	if err == nil || err.Error() != want {
		t.Errorf("blue: %v, want %s", err, want)
	}
	if got := ok(widgets.Get(ctx, "web", metav1.GetOptions{})); got.GetResourceVersion() != created.GetResourceVersion() {
		t.Error("what was refused is stored")
	}
}
