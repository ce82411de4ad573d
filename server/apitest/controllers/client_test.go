package controllers_test

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	appsapply "k8s.io/client-go/applyconfigurations/apps/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	metaapply "k8s.io/client-go/applyconfigurations/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestClientVerbs uses each verb with a custom type, which the client sends as JSON.
func TestClientVerbs(t *testing.T) {
	t.Parallel()
	_, c := start(t)
	ctx := t.Context()
	web := newWidget("web", "red", 2)
	check(t, c.Create(ctx, web))
	if web.UID == "" || web.Generation != 1 || web.ResourceVersion == "" {
		t.Errorf("created: %+v", web.ObjectMeta)
	}
	if err := c.Create(ctx, newWidget("web", "red", 2)); !apierrors.IsAlreadyExists(err) {
		t.Errorf("created twice: %v", err)
	}

	before := web.DeepCopyObject().(*Widget)
	web.Spec.Color = "blue"
	check(t, c.Update(ctx, web))
	if web.Generation != 2 {
		t.Errorf("after an update: %+v", web.ObjectMeta)
	}
	stale := before.DeepCopyObject().(*Widget)
	stale.Spec.Color = ""
	if err := c.Update(ctx, stale); !apierrors.IsConflict(err) {
		t.Errorf("an update of an old version: %v", err)
	}
	lock := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := c.Patch(ctx, stale, lock); !apierrors.IsConflict(err) {
		t.Errorf("a patch of an old version: %v", err)
	}

	patched := web.DeepCopyObject().(*Widget)
	patched.Labels = map[string]string{"tier": "front"}
	check(t, c.Patch(ctx, patched, client.MergeFrom(web)))
	var got Widget
	check(t, c.Get(ctx, client.ObjectKeyFromObject(web), &got))
	if got.Spec.Color != "blue" || *got.Spec.Replicas != 2 || got.Labels["tier"] != "front" {
		t.Errorf("got: %+v", got)
	}
	check(t, c.Delete(ctx, &got, client.Preconditions{UID: &got.UID}))
	if err := c.Get(ctx, client.ObjectKeyFromObject(web), &got); !apierrors.IsNotFound(err) {
		t.Errorf("after delete: %v", err)
	}
}

// TestClientBuiltin uses each verb with a built-in type, which the client sends as protobuf.
func TestClientBuiltin(t *testing.T) {
	t.Parallel()
	_, c := start(t)
	ctx := t.Context()
	web := deployment("web")
	check(t, c.Create(ctx, web))
	if web.Spec.Strategy.Type != appsv1.RollingUpdateDeploymentStrategyType || *web.Spec.RevisionHistoryLimit != 10 {
		t.Errorf("defaults are missing: %+v", web.Spec)
	}
	image := web.DeepCopy()
	image.Spec.Template.Spec.Containers[0].Image = "registry.example.org/web:2"
	check(t, c.Patch(ctx, image, client.StrategicMergeFrom(web)))
	if image.Generation != 2 || image.Spec.Template.Spec.Containers[0].Name != "web" {
		t.Errorf("after a strategic merge patch: %+v", image)
	}
	image.Status.Replicas = 1
	check(t, c.Status().Update(ctx, image))
	if image.Status.Replicas != 1 || image.Generation != 2 {
		t.Errorf("after an update of the status: %+v", image)
	}

	var scale autoscalingv1.Scale
	check(t, c.SubResource("scale").Get(ctx, image, &scale))
	if scale.Spec.Replicas != 1 || scale.Status.Replicas != 1 || scale.Status.Selector != "app=web" {
		t.Errorf("the scale: %+v", scale)
	}
	scale.Spec.Replicas = 3
	check(t, c.SubResource("scale").Update(ctx, image, client.WithSubResourceBody(&scale)))
	check(t, c.Get(ctx, client.ObjectKeyFromObject(web), web))
	if *web.Spec.Replicas != 3 {
		t.Errorf("after an update of the scale: %d replicas", *web.Spec.Replicas)
	}
	check(t, c.Delete(ctx, web))
}

func deployment(name string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: name, Image: "registry.example.org/web:1"}}},
			},
		},
	}
}

// TestClientUnstructured uses each verb with objects without a Go type.
func TestClientUnstructured(t *testing.T) {
	t.Parallel()
	_, c := start(t)
	ctx := t.Context()
	web := unstructuredWidget("web", map[string]any{"color": "red"})
	check(t, c.Create(ctx, web))
	if n, _, _ := unstructured.NestedInt64(web.Object, "spec", "replicas"); n != 1 {
		t.Errorf("the default is missing: %v", web.Object["spec"])
	}
	patch := client.RawPatch("application/json-patch+json", []byte(`[{"op": "replace", "path": "/spec/replicas", "value": 4}]`))
	check(t, c.Patch(ctx, web, patch))
	web.Object["status"] = map[string]any{"replicas": int64(4)}
	check(t, c.Status().Update(ctx, web))
	var list unstructured.UnstructuredList
	list.SetGroupVersionKind(widgets.WithKind("WidgetList"))
	check(t, c.List(ctx, &list, client.InNamespace("default"), client.MatchingFields{"spec.color": "red"}))
	if len(list.Items) != 1 {
		t.Fatalf("%d objects are red", len(list.Items))
	}
	if n, _, _ := unstructured.NestedInt64(list.Items[0].Object, "status", "replicas"); n != 4 {
		t.Errorf("listed: %v", list.Items[0].Object)
	}
	partial := &metav1.PartialObjectMetadata{}
	partial.SetGroupVersionKind(widgets.WithKind("Widget"))
	check(t, c.Get(ctx, client.ObjectKeyFromObject(web), partial))
	if partial.UID != web.GetUID() {
		t.Errorf("the metadata alone: %+v", partial)
	}
}

func unstructuredWidget(name string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": widgets.String(), "kind": "Widget", "spec": spec,
		"metadata": map[string]any{"name": name, "namespace": "default"},
	}}
}

// TestClientApply applies configurations of a custom type, of client-go's types, and without a type: conflicts, force, dry run, and the
// status.
func TestClientApply(t *testing.T) {
	t.Parallel()
	_, c := start(t)
	ctx, owner, other := t.Context(), client.FieldOwner("owner"), client.FieldOwner("other")
	check(t, c.Apply(ctx, applied("web", &WidgetSpec{Color: "red"}), owner))

	blue := unstructuredWidget("web", map[string]any{"color": "blue"})
	err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(blue.DeepCopy()), other)
	want := `Apply failed with 1 conflict: conflict with "owner": .spec.color`
	if !apierrors.IsConflict(err) || err.Error() != want {
		t.Errorf("a conflict says %v, want %s", err, want)
	}
	rehearsed := client.ApplyConfigurationFromUnstructured(blue.DeepCopy())
	check(t, c.Apply(ctx, rehearsed, other, client.ForceOwnership, client.DryRunAll))
	var got Widget
	check(t, c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "web"}, &got))
	if got.Spec.Color != "red" {
		t.Errorf("a dry run was stored: %+v", got)
	}
	check(t, c.Apply(ctx, client.ApplyConfigurationFromUnstructured(blue), other, client.ForceOwnership))

	status := applied("web", nil)
	status.Status = &WidgetStatus{Replicas: 5}
	check(t, c.Status().Apply(ctx, status, owner))
	check(t, c.Get(ctx, client.ObjectKeyFromObject(&got), &got))
	if got.Spec.Color != "blue" || got.Status.Replicas != 5 {
		t.Errorf("applied: %+v", got)
	}
	var managers []string
	for _, entry := range got.ManagedFields {
		managers = append(managers, entry.Manager+" "+string(entry.Operation)+" "+entry.Subresource)
	}
	if all := strings.Join(managers, ", "); all != "other Apply , owner Apply status" {
		t.Errorf("the managers are %s", all)
	}
}

// TestClientApplyBuiltin applies client-go's configuration of a Deployment, which gives up a field by omitting it.
func TestClientApplyBuiltin(t *testing.T) {
	t.Parallel()
	_, c := start(t)
	ctx, owner := t.Context(), client.FieldOwner("owner")
	configuration := func() *appsapply.DeploymentApplyConfiguration {
		labels := map[string]string{"app": "web"}
		container := coreapply.Container().WithName("web").WithImage("registry.example.org/web:1")
		return appsapply.Deployment("web", "default").WithSpec(appsapply.DeploymentSpec().
			WithSelector(metaapply.LabelSelector().WithMatchLabels(labels)).
			WithTemplate(coreapply.PodTemplateSpec().WithLabels(labels).WithSpec(coreapply.PodSpec().WithContainers(container))))
	}
	first := configuration()
	first.Spec.WithReplicas(3)
	check(t, c.Apply(ctx, first, owner))
	if first.UID == nil || *first.Spec.Replicas != 3 {
		t.Errorf("the answer is not read: %+v", first)
	}
	check(t, c.Apply(ctx, configuration(), owner))
	var got appsv1.Deployment
	check(t, c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "web"}, &got))
	if *got.Spec.Replicas != 1 {
		t.Errorf("%d replicas after nobody wants so many, not the default", *got.Spec.Replicas)
	}
}

// TestClientDeleteAllOf deletes the objects of a selector.
func TestClientDeleteAllOf(t *testing.T) {
	t.Parallel()
	_, c := start(t)
	ctx := t.Context()
	for _, name := range []string{"a", "b", "c"} {
		w := newWidget(name, "red", 1)
		w.Labels = map[string]string{"keep": map[bool]string{true: "yes", false: "no"}[name == "b"]}
		check(t, c.Create(ctx, w))
	}
	check(t, c.DeleteAllOf(ctx, &Widget{}, client.InNamespace("default"), client.MatchingLabels{"keep": "no"}))
	var left WidgetList
	check(t, c.List(ctx, &left))
	if len(left.Items) != 1 || left.Items[0].Name != "b" {
		t.Errorf("left: %+v", left.Items)
	}
}

// TestClientWatch watches with the client, and pages through a list.
func TestClientWatch(t *testing.T) {
	t.Parallel()
	_, c := start(t)
	ctx := t.Context()
	events, err := c.Watch(ctx, &WidgetList{}, client.InNamespace("default"))
	check(t, err)
	defer events.Stop()
	for _, name := range []string{"a", "b", "c"} {
		check(t, c.Create(ctx, newWidget(name, "red", 1)))
		event := <-events.ResultChan()
		if w, isWidget := event.Object.(*Widget); event.Type != watch.Added || !isWidget || w.Name != name {
			t.Errorf("the event of %s: %+v", name, event)
		}
	}
	names := ""
	var page WidgetList
	for more := true; more; more = page.Continue != "" {
		check(t, c.List(ctx, &page, client.Limit(2), client.Continue(page.Continue)))
		for _, w := range page.Items {
			names += w.Name
		}
	}
	if names != "abc" {
		t.Errorf("the pages hold %s", names)
	}
}

// TestClientRefusals expects the texts of an API server from the client.
func TestClientRefusals(t *testing.T) {
	t.Parallel()
	_, c := start(t)
	err := c.Create(t.Context(), newWidget("web", "green", 11))
	for _, want := range []string{
		`spec.color: Unsupported value: "green": supported values: "red", "blue"`, "some validation rules were not checked",
	} {
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("a wrong color: %v, want %s", err, want)
		}
	}
	strict := client.WithFieldValidation(c, metav1.FieldValidationStrict)
	err = strict.Create(t.Context(), unstructuredWidget("web", map[string]any{"colour": "red"}))
	if want := `strict decoding error: unknown field "spec.colour"`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("an unknown field: %v, want %s", err, want)
	}
	if err := c.Get(t.Context(), client.ObjectKey{Name: "nowhere"}, &corev1.Namespace{}); !apierrors.IsNotFound(err) {
		t.Errorf("what is not there: %v", err)
	}
}
