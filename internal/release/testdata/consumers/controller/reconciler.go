package controller

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	appsapply "k8s.io/client-go/applyconfigurations/apps/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	metaapply "k8s.io/client-go/applyconfigurations/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// reconciler keeps a Deployment for each Widget.
type reconciler struct{ client.Client }

// Reconcile applies the Deployment of a Widget, and sets the Widget's status.
func (r reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	var w Widget
	if err := r.Get(ctx, request.NamespacedName, &w); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if err := r.Apply(ctx, deploymentOf(&w), client.FieldOwner("widgets"), client.ForceOwnership); err != nil {
		return reconcile.Result{}, err
	}
	if w.Status.Replicas == w.Spec.Replicas {
		return reconcile.Result{}, nil
	}
	w.Status.Replicas = w.Spec.Replicas
	return reconcile.Result{}, r.Status().Update(ctx, &w)
}

// deploymentOf returns the Deployment that the controller applies for a Widget.
func deploymentOf(w *Widget) *appsapply.DeploymentApplyConfiguration {
	labels := map[string]string{"widget": w.Name}
	owner := metaapply.OwnerReference().WithAPIVersion(groupVersion.String()).WithKind("Widget").WithName(w.Name).WithUID(w.UID).
		WithController(true).WithBlockOwnerDeletion(true)
	container := coreapply.Container().WithName("widget").WithImage("registry.example.org/" + w.Spec.Color)
	return appsapply.Deployment(w.Name, w.Namespace).WithOwnerReferences(owner).WithSpec(appsapply.DeploymentSpec().
		WithReplicas(w.Spec.Replicas).WithSelector(metaapply.LabelSelector().WithMatchLabels(labels)).
		WithTemplate(coreapply.PodTemplateSpec().WithLabels(labels).WithSpec(coreapply.PodSpec().WithContainers(container))))
}

// addTo makes m run the reconciler.
func addTo(m manager.Manager) error {
	return builder.ControllerManagedBy(m).For(&Widget{}).Owns(&appsv1.Deployment{}).Complete(reconciler{m.GetClient()})
}
