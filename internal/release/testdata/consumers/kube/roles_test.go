package kube

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
	clientfake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	crfake "sigs.k8s.io/controller-runtime/pkg/client/fake"

	managedfields "github.com/deed-project/deed/kube"
	"github.com/deed-project/deed/kube/fake"
	"github.com/deed-project/deed/kube/gitops"
)

func configMap(color string) *corev1apply.ConfigMapApplyConfiguration {
	return corev1apply.ConfigMap("web", "default").WithData(map[string]string{"color": color})
}

func TestServer(t *testing.T) {
	gvk := corev1.SchemeGroupVersion.WithKind("ConfigMap")
	config := &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, Data: map[string]string{"color": "blue"}}
	config.Name = "web"
	out, err := applyAsServer(managedfields.NewDeducedTypeConverter(), scheme.Scheme, gvk, &corev1.ConfigMap{}, config)
	if err != nil {
		t.Fatal(err)
	}
	if entries := out.(*corev1.ConfigMap).ManagedFields; len(entries) != 1 || entries[0].Manager != "me" {
		t.Errorf("the owners are %v", entries)
	}
}

func TestController(t *testing.T) {
	registry, err := managedfields.NewRegistry(managedfields.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	live, err := registry.Apply(nil, configMap("blue"), managedfields.WriteOptions{Manager: "other"})
	if err != nil {
		t.Fatal(err)
	}
	if got := reconcile(registry, live.Object, configMap("red")); !strings.HasPrefix(got, "conflict: ") {
		t.Error(got)
	}
	if got := reconcile(registry, live.Object, configMap("blue")); got != "send the request" { // it becomes a co-owner
		t.Error(got)
	}
}

// TestFakes applies with the fake clients of both libraries, whose trackers are deed's.
func TestFakes(t *testing.T) {
	newTracker := func() *fake.Tracker {
		tracker, err := fake.NewTracker(clienttesting.NewObjectTracker(scheme.Scheme, scheme.Codecs.UniversalDecoder()), scheme.Scheme, nil)
		if err != nil {
			t.Fatal(err)
		}
		return tracker
	}
	set := &clientfake.Clientset{}
	set.AddReactor("*", "*", clienttesting.ObjectReaction(newTracker()))
	maps := set.CoreV1().ConfigMaps("default")
	if _, err := maps.Apply(t.Context(), configMap("blue"), metav1.ApplyOptions{FieldManager: "alice"}); err != nil {
		t.Fatal(err)
	}
	if _, err := maps.Apply(t.Context(), configMap("red"), metav1.ApplyOptions{FieldManager: "bob"}); !errors.IsConflict(err) {
		t.Errorf("client-go: no conflict but %v", err)
	}
	c := crfake.NewClientBuilder().WithObjectTracker(newTracker()).Build()
	if err := c.Apply(t.Context(), configMap("blue"), client.FieldOwner("alice")); err != nil {
		t.Fatal(err)
	}
	if err := c.Apply(t.Context(), configMap("red"), client.FieldOwner("bob")); !errors.IsConflict(err) {
		t.Errorf("controller-runtime: no conflict but %v", err)
	}
}

// TestDrift reads a cluster that knows one definition.
func TestDrift(t *testing.T) {
	answers := map[string]string{
		"/apis/example.org/v1": `{"kind":"APIResourceList","resources":[{"name":"widgets","kind":"Widget","namespaced":true}]}`,
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.org": `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
			"metadata":{"name":"widgets.example.org"},"spec":{"group":"example.org","scope":"Namespaced","names":{"kind":"Widget","plural":"widgets"},"versions":[{"name":"v1",
			"served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{
			"size":{"type":"integer"},"color":{"type":"string","default":"blue"}}}}}}}]}}`,
		"/apis/example.org/v1/namespaces/default/widgets/web": `{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"web","namespace":"default","managedFields":[{
			"manager":"argocd-controller","operation":"Apply","apiVersion":"example.org/v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:size":{},"f:color":{}}}}]},
			"spec":{"size":1,"color":"red"}}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method != http.MethodGet || answers[r.URL.Path] == "" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = w.Write([]byte(answers[r.URL.Path]))
	}))
	defer server.Close()
	clients := kubernetes.NewForConfigOrDie(&rest.Config{Host: server.URL})
	rules, err := gitops.NewRules([]gitops.IgnoreDifferences{{Group: "example.org", Kind: "Widget", JSONPointers: []string{"/spec/size"}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	desired := map[string]any{"apiVersion": "example.org/v1", "kind": "Widget", "metadata": map[string]any{"name": "web"}, "spec": map[string]any{"size": 2}}
	got, err := drift(t.Context(), clients, desired, rules)
	want := "Widget web: 1 change, 1 ignored\n  ~ .spec.color: \"red\" -> \"blue\"\n  ~ .spec.size: 1 -> 2 (ignored)\n"
	if err != nil || got != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

func TestUpgrade(t *testing.T) {
	var live runtime.Object = &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, Data: map[string]string{"color": "blue", "size": "1"},
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", ResourceVersion: "7", ManagedFields: []metav1.ManagedFieldsEntry{{
			Manager: "kubectl-client-side-apply", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", FieldsType: "FieldsV1",
			FieldsV1: metav1.NewFieldsV1(`{"f:data":{"f:color":{},"f:size":{}}}`),
		}}},
	}
	patch, removed, err := upgrade(live, configMap("blue"))
	if err != nil || len(removed) != 1 || removed[0] != ".data.size" || !strings.Contains(string(patch), `"operation":"Apply"`) {
		t.Errorf("the patch is %s, and %v goes: %v", patch, removed, err)
	}
}
