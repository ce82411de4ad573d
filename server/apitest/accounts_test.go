package apitest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/deed-project/deed/server/apitest"
)

// TestToken sends requests as a service account, which may do what a role says.
func TestToken(t *testing.T) {
	s := apitest.Start(t, apitest.RBAC())
	admin, robot := kubernetes.NewForConfigOrDie(s.RESTConfig()), kubernetes.NewForConfigOrDie(s.RESTConfigFor("default", "robot"))
	review, err := robot.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil || review.Status.UserInfo.Username != "system:serviceaccount:default:robot" {
		t.Fatalf("%v: %v", err, review)
	}
	if _, err := robot.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{}); !errors.IsForbidden(err) {
		t.Errorf("a list of pods gets %v", err)
	}
	s.Apply(`{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: robot},
		roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}, subjects: [{kind: ServiceAccount, name: robot}]}`)
	if _, err := robot.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Error(err)
	}
	config := s.RESTConfig()
	config.ContentType = "application/vnd.kubernetes.protobuf"
	asked := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: []string{"vault"}, ExpirationSeconds: new(int64(1200))}}
	answer, err := kubernetes.NewForConfigOrDie(config).CoreV1().ServiceAccounts("default").CreateToken(t.Context(), "robot", asked, metav1.CreateOptions{})
	if err != nil || answer.Status.Token == "" || answer.Spec.Audiences[0] != "vault" || answer.Namespace != "default" {
		t.Errorf("a token in protobuf: %v %v", err, answer)
	}
	if err := admin.CoreV1().ServiceAccounts("default").Delete(t.Context(), "robot", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := robot.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{}); !errors.IsUnauthorized(err) {
		t.Errorf("once the account is gone, a list of pods gets %v", err)
	}
}

// TestServiceAccounts creates a pod in a new namespace, and reads the certificate that it would trust.
func TestServiceAccounts(t *testing.T) {
	s := apitest.Start(t, apitest.ServiceAccounts())
	c := kubernetes.NewForConfigOrDie(s.RESTConfig())
	s.Apply(`{apiVersion: v1, kind: Namespace, metadata: {name: shop}}`)
	var root *corev1.ConfigMap
	err := wait.PollUntilContextCancel(t.Context(), time.Millisecond, true, func(ctx context.Context) (bool, error) {
		var err error
		root, err = c.CoreV1().ConfigMaps("shop").Get(ctx, "kube-root-ca.crt", metav1.GetOptions{})
		return err == nil, errorsBut(err, errors.IsNotFound)
	})
	if err != nil || !strings.Contains(root.Data["ca.crt"], "BEGIN CERTIFICATE") {
		t.Fatalf("%v: %v", err, root)
	}
	pod, err := c.CoreV1().Pods("shop").Create(t.Context(), &corev1.Pod{ // which waits for the account
		ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}, metav1.CreateOptions{})
	if err != nil || pod.Spec.ServiceAccountName != "default" || len(pod.Spec.Volumes) != 1 {
		t.Errorf("%v: %v", err, pod)
	}
}

// errorsBut returns err, unless it is of a kind.
func errorsBut(err error, is func(error) bool) error {
	if is(err) {
		return nil
	}
	return err
}
