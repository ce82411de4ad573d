package controllers_test

import (
	"context"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	appsapply "k8s.io/client-go/applyconfigurations/apps/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	metaapply "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/deed-project/deed/server/apitest"
)

// reconciler keeps a Deployment for each Widget, and writes its replicas to the Widget's status.
type reconciler struct{ client.Client }

// Reconcile applies the Deployment of a Widget, and the Widget's status.
func (r reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	var w Widget
	if err := r.Get(ctx, request.NamespacedName, &w); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if err := r.Apply(ctx, deploymentOf(&w), client.FieldOwner("widgets"), client.ForceOwnership); err != nil {
		return reconcile.Result{}, err
	}
	if w.Status.Replicas == *w.Spec.Replicas {
		return reconcile.Result{}, nil
	}
	w.Status.Replicas = *w.Spec.Replicas
	return reconcile.Result{}, r.Status().Update(ctx, &w)
}

// deploymentOf returns the configuration that the controller applies for a Widget, with the Widget as owner.
func deploymentOf(w *Widget) *appsapply.DeploymentApplyConfiguration {
	labels := map[string]string{"widget": w.Name}
	owner := metaapply.OwnerReference().WithAPIVersion(widgets.String()).WithKind("Widget").WithName(w.Name).WithUID(w.UID).
		WithController(true).WithBlockOwnerDeletion(true)
	container := coreapply.Container().WithName("widget").WithImage("registry.example.org/" + w.Spec.Color)
	return appsapply.Deployment(w.Name, w.Namespace).WithOwnerReferences(owner).WithSpec(appsapply.DeploymentSpec().
		WithReplicas(*w.Spec.Replicas).WithSelector(metaapply.LabelSelector().WithMatchLabels(labels)).
		WithTemplate(coreapply.PodTemplateSpec().WithLabels(labels).WithSpec(coreapply.PodSpec().WithContainers(container))))
}

// newManager returns a manager for a server, without ports.
func newManager(t *testing.T, s *apitest.Server, options manager.Options) manager.Manager {
	t.Helper()
	return newManagerAt(t, s.RESTConfig(), options)
}

// newManagerAt returns a manager for the server of a client's configuration, without ports.
func newManagerAt(t *testing.T, server *rest.Config, options manager.Options) manager.Manager {
	t.Helper()
	options.Scheme = scheme
	options.Metrics = metricsserver.Options{BindAddress: "0"}
	options.Controller = config.Controller{SkipNameValidation: new(true)}
	m, err := manager.New(server, options)
	check(t, err)
	return m
}

// run runs a manager until the returned function is called, which returns the manager's error.
func run(t *testing.T, m manager.Manager) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- m.Start(ctx) }()
	return func() error {
		cancel()
		return <-done
	}
}

// await watches the objects in namespace default until wanted accepts one of them.
func await[T client.Object](t *testing.T, c client.WithWatch, list client.ObjectList, wanted func(T) bool) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	events, err := c.Watch(ctx, list, client.InNamespace("default"))
	check(t, err)
	defer events.Stop()
	for event := range events.ResultChan() {
		if o, isObject := event.Object.(T); isObject && event.Type != watch.Deleted && wanted(o) {
			return o
		}
	}
	t.Fatalf("no %T becomes as wanted", list)
	panic("unreachable")
}

// TestManager runs a controller. It creates the Deployment of a Widget, and repairs it after others change or delete it. It ends when the
// manager stops.
func TestManager(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	ctx := t.Context()
	m := newManager(t, s, manager.Options{})
	check(t, builder.ControllerManagedBy(m).For(&Widget{}).Owns(&appsv1.Deployment{}).Complete(reconciler{m.GetClient()}))
	stop := run(t, m)

	web := newWidget("web", "red", 2)
	check(t, c.Create(ctx, web))
	await(t, c, &WidgetList{}, func(w *Widget) bool { return w.Status.Replicas == 2 })
	made := await(t, c, &appsv1.DeploymentList{}, func(d *appsv1.Deployment) bool { return *d.Spec.Replicas == 2 })
	if !metav1.IsControlledBy(made, web) {
		t.Errorf("the owner is %+v", made.OwnerReferences)
	}

	theirs := made.DeepCopy()
	theirs.Spec.Template.Spec.Containers[0].Image = "registry.example.org/other"
	check(t, c.Update(ctx, theirs))
	await(t, c, &appsv1.DeploymentList{}, func(d *appsv1.Deployment) bool {
		return d.Generation > theirs.Generation && d.Spec.Template.Spec.Containers[0].Image == "registry.example.org/red"
	})
	check(t, c.Delete(ctx, made))
	await(t, c, &appsv1.DeploymentList{}, func(d *appsv1.Deployment) bool { return d.UID != made.UID })

	check(t, c.Patch(ctx, web, client.RawPatch("application/merge-patch+json", []byte(`{"spec": {"replicas": 5}}`))))
	await(t, c, &WidgetList{}, func(w *Widget) bool { return w.Status.Replicas == 5 && w.Generation == 2 })
	if err := stop(); err != nil {
		t.Errorf("the manager ends with %v", err)
	}
}

// TestLeaderElection runs two managers. The second leads after the first has ended.
func TestLeaderElection(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	options := manager.Options{
		LeaderElection: true, LeaderElectionID: "widgets", LeaderElectionNamespace: "default", LeaderElectionReleaseOnCancel: true,
		RetryPeriod: new(50 * time.Millisecond),
	}
	first, second := newManager(t, s, options), newManager(t, s, options)
	stopFirst := run(t, first)
	<-first.Elected()
	holder := func(l *coordinationv1.Lease) bool {
		return l.Spec.HolderIdentity != nil && *l.Spec.HolderIdentity != ""
	}
	led := await(t, c, &coordinationv1.LeaseList{}, holder)
	stopSecond := run(t, second)
	select {
	case <-second.Elected():
		t.Error("two managers lead at once")
	default:
	}
	if err := stopFirst(); err != nil {
		t.Errorf("the first manager ends with %v", err)
	}
	<-second.Elected()
	await(t, c, &coordinationv1.LeaseList{}, func(l *coordinationv1.Lease) bool {
		return holder(l) && *l.Spec.HolderIdentity != *led.Spec.HolderIdentity
	})
	if err := stopSecond(); err != nil {
		t.Errorf("the second manager ends with %v", err)
	}
}
