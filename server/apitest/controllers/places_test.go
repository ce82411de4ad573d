package controllers_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	crenvtest "sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/deed-project/deed/server/apitest"
	"github.com/deed-project/deed/server/envtest"
)

// assetsVariable names a folder with the programs kube-apiserver and etcd, to compare.
const assetsVariable = "DEED_ENVTEST_ASSETS"

// TestPlaces runs one suite on each server that it can have: controller-runtime's envtest with the programs of deed and with others,
// envtest of this module, and apitest. It logs how long each takes from nothing to the first object that the controller has made.
func TestPlaces(t *testing.T) {
	t.Run("envtest with deed's programs", func(t *testing.T) { onPrograms(t, deedPrograms(t)) })
	t.Run("envtest with others", func(t *testing.T) {
		dir := os.Getenv(assetsVariable)
		if dir == "" {
			t.Skip(assetsVariable + " names no folder with kube-apiserver and etcd")
		}
		onPrograms(t, dir)
	})
	t.Run("envtest of deed", func(t *testing.T) {
		begin := time.Now()
		e := &envtest.Environment{CRDDirectoryPaths: []string{definitions}, ErrorIfCRDPathMissing: true}
		config, err := e.Start()
		check(t, err)
		defer func() { check(t, e.Stop()) }()
		reader, err := e.AddUser(envtest.User{Name: "reader"}, nil)
		check(t, err)
		shared(t, config, reader.Config(), begin)
	})
	t.Run("apitest", func(t *testing.T) {
		begin := time.Now()
		config := apitest.Start(t, apitest.CRDs(definitions), apitest.RBAC()).RESTConfig()
		reader := rest.CopyConfig(config)
		reader.Impersonate.UserName = "reader"
		shared(t, config, reader, begin)
	})
}

// definitions is the folder with the definition of widgets.
const definitions = "../testdata"

// deedPrograms returns a folder with the programs that deed-apiserver writes.
func deedPrograms(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "deed-apiserver")
	for _, line := range [][]string{
		{"go", "build", "-o", program, "github.com/deed-project/deed/server/cmd/deed-apiserver"},
		{program, "assets", dir},
	} {
		if text, err := exec.Command(line[0], line[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	return dir
}

// onPrograms runs the suite on the programs in a folder, with envtest of controller-runtime.
func onPrograms(t *testing.T, dir string) {
	t.Helper()
	begin := time.Now()
	e := &crenvtest.Environment{BinaryAssetsDirectory: dir, CRDDirectoryPaths: []string{definitions}, ErrorIfCRDPathMissing: true}
	config, err := e.Start()
	check(t, err)
	defer func() { check(t, e.Stop()) }()
	reader, err := e.AddUser(crenvtest.User{Name: "reader"}, nil)
	check(t, err)
	shared(t, config, reader.Config(), begin)
}

// shared is the suite: a controller that makes Deployments, a user without rights, and what a control plane adds to an object.
func shared(t *testing.T, admin, reader *rest.Config, begin time.Time) {
	t.Helper()
	ctx := t.Context()
	m := newManagerAt(t, admin, manager.Options{})
	check(t, builder.ControllerManagedBy(m).For(&Widget{}).Owns(&appsv1.Deployment{}).Complete(reconciler{m.GetClient()}))
	stop := run(t, m)
	c, err := client.NewWithWatch(admin, client.Options{Scheme: scheme})
	check(t, err)
	check(t, c.Create(ctx, newWidget("web", "red", 2)))
	await(t, c, &appsv1.DeploymentList{}, func(d *appsv1.Deployment) bool { return *d.Spec.Replicas == 2 })
	t.Logf("from the start to the first Deployment: %v", time.Since(begin).Round(time.Millisecond))
	check(t, stop())

	asReader, err := client.New(reader, client.Options{Scheme: scheme})
	check(t, err)
	if err := asReader.Get(ctx, client.ObjectKey{Name: "default"}, &corev1.Namespace{}); !errors.IsForbidden(err) {
		t.Errorf("a user without rights: %v", err)
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
	check(t, c.Create(ctx, pod))
	if got := fmt.Sprintf("%d %d %s", *pod.Spec.Priority, len(pod.Spec.Tolerations), pod.Status.QOSClass); got != "0 2 BestEffort" {
		t.Errorf("a pod has priority, tolerations and class %s", got)
	}
}
