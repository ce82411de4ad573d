package envtest_test

import (
	"crypto/tls"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	registration "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/deed-project/deed/server/envtest"
)

// start starts an environment that ends with the test.
func start(t *testing.T, e *envtest.Environment) *rest.Config {
	t.Helper()
	config, err := e.Start()
	t.Cleanup(func() {
		if err := e.Stop(); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return config
}

var widgets = schema.GroupVersionResource{Group: "example.org", Version: "v1", Resource: "widgets"}

// TestEnvironment does what most suites do: it installs definitions from a folder, creates objects as an administrator, and gives another
// user rights. The environment starts again after its end, without the objects.
func TestEnvironment(t *testing.T) {
	e := &envtest.Environment{CRDDirectoryPaths: []string{"../apitest/testdata"}, ErrorIfCRDPathMissing: true}
	early, err := e.AddUser(envtest.User{Name: "early"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for round := range 2 {
		config := start(t, e)
		admin := kubernetes.NewForConfigOrDie(config)
		w := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "example.org/v1", "kind": "Widget", "metadata": map[string]any{"name": "a"}, "spec": map[string]any{"replicas": int64(1)},
		}}
		custom := dynamic.NewForConfigOrDie(config).Resource(widgets).Namespace("default")
		if _, err := custom.Create(t.Context(), w, metav1.CreateOptions{}); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		reader, err := e.AddUser(envtest.User{Name: "reader", Groups: []string{"readers"}}, &rest.Config{UserAgent: "suite"})
		if err != nil {
			t.Fatal(err)
		}
		if reader.Config().UserAgent != "suite" {
			t.Error("the settings of the base are lost")
		}
		asReader := kubernetes.NewForConfigOrDie(reader.Config()).CoreV1().Namespaces()
		if _, err := asReader.Get(t.Context(), "default", metav1.GetOptions{}); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `"reader"`) {
			t.Errorf("a user without rights: %v", err)
		}
		binding := &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "readers"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
			Subjects:   []rbacv1.Subject{{Kind: "Group", APIGroup: rbacv1.GroupName, Name: "readers"}},
		}
		if _, err := admin.RbacV1().ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := asReader.Get(t.Context(), "default", metav1.GetOptions{}); err != nil {
			t.Error(err)
		}
		if _, err := kubernetes.NewForConfigOrDie(early.Config()).CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
			t.Errorf("a user from before the start: %v", err)
		}
		byFile, err := clientcmd.RESTConfigFromKubeConfig(e.KubeConfig)
		if err != nil {
			t.Fatal(err)
		}
		services := kubernetes.NewForConfigOrDie(byFile).CoreV1().Services("default")
		if s, err := services.Get(t.Context(), "kubernetes", metav1.GetOptions{}); err != nil || s.Spec.ClusterIP != "10.0.0.1" {
			t.Errorf("the service kubernetes: %v, %v", s, err)
		}
		// Nothing empties a namespace.
		if err := admin.CoreV1().Namespaces().Delete(t.Context(), "default", metav1.DeleteOptions{}); !apierrors.IsForbidden(err) {
			t.Errorf("the namespace default: %v", err)
		}
		if err := e.Stop(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFlags sets flags of the server, and reads what is wrong with one.
func TestFlags(t *testing.T) {
	e := &envtest.Environment{}
	var said strings.Builder
	e.ControlPlane.GetAPIServer().Err = &said
	e.ControlPlane.GetAPIServer().Configure().Append("disable-admission-plugins", "LimitRanger").Set("authorization-mode", "AlwaysAllow").
		Append("feature-gates", "A=true").Disable("allow-privileged")
	config := start(t, e)
	nobody, err := e.AddUser(envtest.User{Name: "nobody"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kubernetes.NewForConfigOrDie(nobody.Config()).CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
	limits := &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Name: "l"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{Type: corev1.LimitTypeContainer}}}}
	if _, err := kubernetes.NewForConfigOrDie(config).CoreV1().LimitRanges("default").Create(t.Context(), limits, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
	if err := e.Stop(); err != nil {
		t.Error(err)
	}
	if want := "kube-apiserver: --feature-gates has no effect in deed-apiserver\n"; said.String() != want {
		t.Errorf("the server says %q, want %q", said.String(), want)
	}

	wrong := &envtest.Environment{}
	wrong.ControlPlane.GetAPIServer().Configure().Set("event-ttl", "soon")
	if _, err := wrong.Start(); err == nil || !strings.Contains(err.Error(), "--event-ttl") {
		t.Errorf("a wrong flag: %v", err)
	}
	missing := &envtest.Environment{CRDDirectoryPaths: []string{"absent"}, ErrorIfCRDPathMissing: true}
	if _, err := missing.Start(); err == nil || !strings.Contains(err.Error(), "absent") {
		t.Errorf("a missing path: %v", err)
	}
	if err := missing.Stop(); err != nil {
		t.Error(err)
	}
}

// TestArguments compares command lines.
func TestArguments(t *testing.T) {
	defaults := map[string][]string{"a": {"1"}, "b": {"x", "y"}}
	for want, a := range map[string]*envtest.Arguments{
		"--a=1 --b=x --b=y":             envtest.EmptyArguments(),
		"--a=1 --a=2 --a=3 --b=x --b=y": envtest.EmptyArguments().Append("a", "2").Append("a", "3"),
		"--a=2 --a=3":                   envtest.EmptyArguments().Set("a", "2").Append("a", "3").Disable("b"),
		"--a=2 --b=x --b=y --c":         envtest.EmptyArguments().AppendNoDefaults("a", "2").Enable("c"),
	} {
		if got := strings.Join(a.AsStrings(defaults), " "); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestWebhooks serves a webhook as suites do, whose configuration a file has with a service: it refuses config maps.
func TestWebhooks(t *testing.T) {
	dir := t.TempDir()
	const text = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: refusing
webhooks:
- name: refusing.example.org
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {service: {name: webhooks, namespace: system, path: /refuse}}
  rules:
  - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}
`
	if err := os.WriteFile(filepath.Join(dir, "hooks.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	e := &envtest.Environment{WebhookInstallOptions: envtest.WebhookInstallOptions{
		Paths:            []string{dir},
		MutatingWebhooks: []*registration.MutatingWebhookConfiguration{{ObjectMeta: metav1.ObjectMeta{Name: "empty"}}},
	}}
	config := start(t, e)
	o := e.WebhookInstallOptions
	certificate, err := tls.LoadX509KeyPair(filepath.Join(o.LocalServingCertDir, "tls.crt"), filepath.Join(o.LocalServingCertDir, "tls.key"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := tls.Listen("tcp", net.JoinHostPort(o.LocalServingHost, strconv.Itoa(o.LocalServingPort)), &tls.Config{Certificates: []tls.Certificate{certificate}})
	if err != nil {
		t.Fatal(err)
	}
	hooks := &http.Server{Handler: http.HandlerFunc(refuse)}
	go func() { _ = hooks.Serve(l) }() // until it is closed
	t.Cleanup(func() { _ = hooks.Close() })

	c := kubernetes.NewForConfigOrDie(config)
	_, err = c.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
	if err == nil || !strings.Contains(err.Error(), `admission webhook "refusing.example.org" denied the request: not at /refuse`) {
		t.Errorf("a config map: %v", err)
	}
	if _, err := c.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(t.Context(), "empty", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
	if err := e.Stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(o.LocalServingCertDir); !os.IsNotExist(err) {
		t.Errorf("the folder of the certificate is there after the end: %v", err)
	}
}

// refuse answers a review with no, and names the path.
func refuse(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var review admissionv1.AdmissionReview
	if err != nil || json.Unmarshal(body, &review) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Result: &metav1.Status{Message: "not at " + r.URL.Path}}
	_ = json.NewEncoder(w).Encode(review) // to the server, which may have gone
}
