package apitest_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/deed-project/deed/server/apitest"
)

// TestConfigurePlugins creates a pod that the policy of all namespaces forbids.
func TestConfigurePlugins(t *testing.T) {
	client := kubernetes.NewForConfigOrDie(apitest.Start(t, apitest.ConfigurePlugins(map[string][]byte{"PodSecurity": []byte(`
apiVersion: pod-security.admission.config.k8s.io/v1
kind: PodSecurityConfiguration
defaults: {enforce: baseline}
`)})).RESTConfig())
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       corev1.PodSpec{HostNetwork: true, Containers: []corev1.Container{{Name: "web", Image: "nginx"}}},
	}
	if _, err := client.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); !errors.IsForbidden(err) {
		t.Errorf("a pod in the host's network is answered with %v", err)
	}
}

// TestRuntimeConfig asks for a version that is served on request, and for one that is switched off.
func TestRuntimeConfig(t *testing.T) {
	versions := map[string]bool{"resource.k8s.io/v1beta1": true, "batch/v1": false}
	client := kubernetes.NewForConfigOrDie(apitest.Start(t, apitest.RuntimeConfig(versions)).RESTConfig()).Discovery()
	for version, serves := range versions {
		if _, err := client.ServerResourcesForGroupVersion(version); serves && err != nil || !serves && !errors.IsNotFound(err) {
			t.Errorf("%s: %v", version, err)
		}
	}
}
