package apitest_test

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kubeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/deed-project/deed/server/apitest"
)

// Gadget is a kind that has no definition.
type Gadget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Color             string       `json:"color,omitempty"`
	Status            GadgetStatus `json:"status,omitzero"`
}

// GadgetStatus is the status of a Gadget.
type GadgetStatus struct {
	Ready bool `json:"ready,omitempty"`
}

// DeepCopyObject implements runtime.Object.
func (g *Gadget) DeepCopyObject() runtime.Object {
	out := *g
	g.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

// GadgetList is a list of Gadgets.
type GadgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Gadget `json:"items"`
}

// DeepCopyObject implements runtime.Object.
func (l *GadgetList) DeepCopyObject() runtime.Object {
	out := *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = nil
	for i := range l.Items {
		out.Items = append(out.Items, *l.Items[i].DeepCopyObject().(*Gadget))
	}
	return &out
}

// Plant is like a Gadget, in no namespace.
type Plant struct{ Gadget }

// DeepCopyObject implements runtime.Object.
func (p *Plant) DeepCopyObject() runtime.Object { return &Plant{*p.Gadget.DeepCopyObject().(*Gadget)} }

// gadgets returns a scheme with the kinds of the core group and two kinds in two versions.
func gadgets(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"v1beta1", "v1"} {
		gv := kubeschema.GroupVersion{Group: "example.org", Version: version}
		scheme.AddKnownTypes(gv, &Gadget{}, &GadgetList{})
		scheme.AddKnownTypeWithName(kubeschema.GroupVersion{Group: "plants.example.k8s.io", Version: version}.WithKind("Plant"), &Plant{})
		metav1.AddToGroupVersion(scheme, gv)
	}
	if err := scheme.SetVersionPriority(kubeschema.GroupVersion{Group: "example.org", Version: "v1"}, kubeschema.GroupVersion{Group: "example.org", Version: "v1beta1"}); err != nil {
		t.Fatal(err)
	}
	return scheme
}

// TestNewClient makes a client as those of fakes are made: with Go types, and objects that have a status, or are being deleted.
func TestNewClient(t *testing.T) {
	t.Parallel()
	ctx, scheme := t.Context(), gadgets(t)
	ready := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.org/v1", "kind": "Gadget", "metadata": map[string]any{"namespace": "shop", "name": "ready"},
		"color": "red", "status": map[string]any{"ready": true},
	}}
	going := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "going", Finalizers: []string{"example.org/wait"}, DeletionTimestamp: new(metav1.Now()),
	}}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}, Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	plant := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "plants.example.k8s.io/v1", "kind": "Plant", "metadata": map[string]any{"name": "rose"},
	}}
	c := apitest.NewClient(t, scheme, ready, going, pod, plant)

	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kubeschema.GroupVersionKind{Group: "example.org", Version: "v1beta1", Kind: "GadgetList"})
	if err := c.List(ctx, list, client.InNamespace("shop")); err != nil || len(list.Items) != 1 {
		t.Fatalf("gadgets: %v, %v", list.Items, err)
	}
	if isReady, _, _ := unstructured.NestedBool(list.Items[0].Object, "status", "ready"); !isReady {
		t.Errorf("the status is lost: %v", list.Items[0].Object)
	}
	gone := &corev1.ConfigMap{}
	if err := c.Get(ctx, client.ObjectKeyFromObject(going), gone); err != nil || gone.DeletionTimestamp == nil {
		t.Errorf("the object that is being deleted: %v, %v", gone, err)
	}
	running := &corev1.Pod{}
	if err := c.Get(ctx, client.ObjectKeyFromObject(pod), running); err != nil || running.Status.Phase != corev1.PodRunning || running.Spec.RestartPolicy != "Always" {
		t.Errorf("the pod: %+v, %v", running, err)
	}
	if pod.ResourceVersion != "" || going.DeletionTimestamp == nil {
		t.Error("objects of the caller are changed")
	}

	for _, manager := range []string{"one", "two"} {
		fresh := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "example.org/v1", "kind": "Gadget", "metadata": map[string]any{"namespace": "shop", "name": "fresh"}, "color": manager,
		}}
		err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(fresh), client.FieldOwner(manager))
		if manager == "one" && err != nil || manager == "two" && !apierrors.IsConflict(err) {
			t.Errorf("an apply by %s: %v", manager, err)
		}
	}
	failing := interceptor.NewClient(c, interceptor.Funcs{Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
		return errors.New("intercepted")
	}})
	if err := failing.Get(ctx, client.ObjectKeyFromObject(pod), running); err == nil || err.Error() != "intercepted" {
		t.Errorf("an interceptor: %v", err)
	}
}
