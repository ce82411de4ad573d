package samples

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"gomodules.xyz/jsonpatch/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	crwebhook "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/apitest"
)

var widgets = schema.GroupVersionResource{Group: "example.org", Version: "v1", Resource: "widgets"}

func TestController(t *testing.T) {
	s := apitest.Start(t, apitest.CRDs("config/crd/bases"))
	s.Apply(`{apiVersion: example.org/v1, kind: Widget, metadata: {name: web}, spec: {color: red}}`)
	client := dynamic.NewForConfigOrDie(s.RESTConfig()).Resource(widgets).Namespace("default")
	web, err := client.Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if color, _, _ := unstructured.NestedString(web.Object, "spec", "color"); color != "red" {
		t.Errorf("it is %s", color)
	}
}

func TestManager(t *testing.T) {
	s := apitest.Start(t, apitest.CRDs("config/crd/bases"))
	m, err := manager.New(s.RESTConfig(), manager.Options{
		Metrics:    metricsserver.Options{BindAddress: "0"},          // no port, so that tests run in parallel
		Controller: config.Controller{SkipNameValidation: new(true)}, // each test has a controller of the same name
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.GetRESTMapper().KindFor(widgets); err != nil {
		t.Error(err)
	}
}

func TestWebhooks(t *testing.T) {
	mux, hook := http.NewServeMux(), func(h crwebhook.HandlerFunc) http.Handler { return &crwebhook.Webhook{Handler: h} }
	mux.Handle("/mutate-example-org-v1-widget", hook(func(_ context.Context, r crwebhook.Request) crwebhook.Response {
		return crwebhook.Patched("painted", jsonpatch.NewOperation("add", "/metadata/labels", map[string]string{"painted": "yes"}))
	}))
	mux.Handle("/validate-example-org-v1-widget", hook(func(_ context.Context, r crwebhook.Request) crwebhook.Response {
		return crwebhook.ValidationResponse(r.Name != "blue", "not blue")
	}))
	s := apitest.Start(t, apitest.CRDs("config/crd/bases"), apitest.Webhooks("config/webhook", mux))
	s.Apply(`{apiVersion: example.org/v1, kind: Widget, metadata: {name: web}, spec: {color: red}}`)
	client := dynamic.NewForConfigOrDie(s.RESTConfig()).Resource(widgets).Namespace("default")
	web, err := client.Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil || web.GetLabels()["painted"] != "yes" {
		t.Errorf("it is not painted: %v, %v", web, err)
	}
	web.SetName("blue")
	web.SetResourceVersion("")
	if _, err := client.Create(t.Context(), web, metav1.CreateOptions{}); !errors.IsForbidden(err) {
		t.Errorf("it is not refused: %v", err)
	}
}

func TestConversion(t *testing.T) {
	mux := http.NewServeMux() // that of controller-runtime's webhook server, for instance
	s := apitest.Start(t, apitest.CRDs("config/crd/bases"), apitest.Conversion(mux, "widgets.example.org"))
	s.Apply(`{apiVersion: example.org/v1, kind: Widget, metadata: {name: web}, spec: {color: red}}`)
}

func TestFunction(t *testing.T) {
	s := apitest.Start(t, apitest.Admission(admission.Validate(func(_ context.Context, r *admission.Request) error {
		if r.Operation == admission.Delete && r.Name == "precious" {
			return errors.NewForbidden(r.Resource.GroupResource(), r.Name, fmt.Errorf("it is precious"))
		}
		return nil
	})))
	s.Apply(`{apiVersion: v1, kind: ConfigMap, metadata: {name: precious}}`)
	maps := schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	client := dynamic.NewForConfigOrDie(s.RESTConfig()).Resource(maps).Namespace("default")
	if err := client.Delete(t.Context(), "precious", metav1.DeleteOptions{}); !errors.IsForbidden(err) {
		t.Errorf("it is deleted: %v", err)
	}
}

func TestFromFakes(t *testing.T) {
	web := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web:1"}}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
	c := apitest.NewClient(t, clientscheme.Scheme, web)
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(web), web); err != nil || web.Status.Phase != corev1.PodRunning {
		t.Errorf("it does not run: %v", err)
	}
}

func TestFromEnvtest(t *testing.T) {
	cfg := apitest.Start(t, apitest.CRDs("config/crd/bases")).RESTConfig()
	if _, err := dynamic.NewForConfigOrDie(cfg).Resource(widgets).List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Error(err)
	}
}
