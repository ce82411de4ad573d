package controller

import (
	"context"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/deed-project/deed/server/apitest"
)

// start starts a server with the definition and the webhooks of Widgets, and the controller on it.
func start(t *testing.T) client.WithWatch {
	t.Helper()
	scheme, err := newScheme()
	check(t, err)
	s := apitest.Start(t, apitest.CRDs("config/crd"), apitest.Webhooks("config/webhook", webhooks(scheme)))
	c, err := client.NewWithWatch(s.RESTConfig(), client.Options{Scheme: scheme})
	check(t, err)
	m, err := manager.New(s.RESTConfig(), manager.Options{Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}})
	check(t, err)
	check(t, addTo(m))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- m.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		check(t, <-done)
	})
	return c
}

// TestController creates a Widget, which the defaulter paints, and waits for its Deployment.
func TestController(t *testing.T) {
	c := start(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	events, err := c.Watch(ctx, &appsv1.DeploymentList{}, client.InNamespace("default"))
	check(t, err)
	defer events.Stop()
	web := &Widget{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"}, Spec: WidgetSpec{Replicas: 2}}
	check(t, c.Create(ctx, web))
	event, ok := <-events.ResultChan()
	made, isDeployment := event.Object.(*appsv1.Deployment)
	if !ok || event.Type != watch.Added || !isDeployment {
		t.Fatalf("no Deployment is made: %+v", event)
	}
	if !metav1.IsControlledBy(made, web) || *made.Spec.Replicas != 2 || made.Spec.Template.Spec.Containers[0].Image != "registry.example.org/red" {
		t.Errorf("this is made: %+v", made)
	}
	if m := made.ManagedFields[0]; m.Manager != "widgets" || m.Operation != metav1.ManagedFieldsOperationApply {
		t.Errorf("it belongs to %s by %s", m.Manager, m.Operation)
	}

	blue := &Widget{ObjectMeta: metav1.ObjectMeta{Name: "blue", Namespace: "default"}, Spec: WidgetSpec{Color: "blue"}}
	if err := c.Create(ctx, blue); !apierrors.IsForbidden(err) {
		t.Errorf("the validator does not refuse blue: %v", err)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
