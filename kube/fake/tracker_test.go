package fake_test

import (
	"fmt"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	gvkschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/kube/fake"
)

// storage stores objects by name. testing.NewObjectTracker of client-go returns what programs use.
type storage struct {
	fake.Storage
	objects map[string]runtime.Object
}

func (s storage) Get(gvr gvkschema.GroupVersionResource, _, name string, _ ...metav1.GetOptions) (runtime.Object, error) {
	if object, ok := s.objects[name]; ok {
		return object.DeepCopyObject(), nil
	}
	return nil, apierrors.NewNotFound(gvr.GroupResource(), name)
}

func (s storage) put(object runtime.Object) error {
	accessor, err := meta.Accessor(object)
	if err == nil {
		s.objects[accessor.GetName()] = object.DeepCopyObject()
	}
	return err
}

func (s storage) Create(gvr gvkschema.GroupVersionResource, object runtime.Object, ns string, _ ...metav1.CreateOptions) error {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return err
	}
	if _, err := s.Get(gvr, ns, accessor.GetName()); err == nil {
		return apierrors.NewAlreadyExists(gvr.GroupResource(), accessor.GetName())
	}
	return s.put(object)
}

func (s storage) Update(_ gvkschema.GroupVersionResource, object runtime.Object, _ string, _ ...metav1.UpdateOptions) error {
	return s.put(object)
}

func (s storage) Patch(_ gvkschema.GroupVersionResource, object runtime.Object, _ string, _ ...metav1.PatchOptions) error {
	return s.put(object)
}

var configMaps = gvkschema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

func configMap(data map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "web"}, "data": data,
	}}
}

func ExampleTracker() {
	// With client-go: testing.NewObjectTracker(scheme.Scheme, scheme.Codecs.UniversalDecoder()) is a storage.
	tracker, err := fake.NewTracker(storage{objects: map[string]runtime.Object{}}, runtime.NewScheme(), nil)
	if err != nil {
		panic(err)
	}
	apply := func(manager string, data map[string]any) error {
		return tracker.Apply(configMaps, configMap(data), "default", metav1.PatchOptions{FieldManager: manager})
	}
	fmt.Println(apply("alice", map[string]any{"color": "blue"}))
	fmt.Println(apply("bob", map[string]any{"color": "red"}))
	// Output:
	// <nil>
	// Apply failed with 1 conflict: conflict with "alice": .data.color
}

// TestTracker writes an object in all ways, and looks at who owns what.
func TestTracker(t *testing.T) {
	tracker, err := fake.NewTracker(storage{objects: map[string]runtime.Object{}}, runtime.NewScheme(), nil)
	if err != nil {
		t.Fatal(err)
	}
	owners := func(want string) {
		t.Helper()
		object, err := tracker.Get(configMaps, "default", "web")
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, e := range object.(*unstructured.Unstructured).GetManagedFields() {
			got += fmt.Sprintf("%s %s %s\n", e.Manager, e.Operation, e.FieldsV1.GetRawString())
		}
		if got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	}
	write := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	write(tracker.Create(configMaps, configMap(map[string]any{"a": "1"}), "default", metav1.CreateOptions{FieldManager: "one"}))
	owners("one Update {\"f:data\":{\".\":{},\"f:a\":{}}}\n")
	write(tracker.Apply(configMaps, configMap(map[string]any{"b": "1"}), "default", metav1.PatchOptions{FieldManager: "two"}))
	owners("two Apply {\"f:data\":{\"f:b\":{}}}\none Update {\"f:data\":{\".\":{},\"f:a\":{}}}\n")
	write(tracker.Update(configMaps, configMap(map[string]any{"a": "1", "b": "2"}), "default", metav1.UpdateOptions{FieldManager: "three"}))
	owners("one Update {\"f:data\":{\".\":{},\"f:a\":{}}}\nthree Update {\"f:data\":{\"f:b\":{}}}\n")
	write(tracker.Patch(configMaps, configMap(map[string]any{"b": "2"}), "default", metav1.PatchOptions{FieldManager: "three"}))
	owners("one Update {\"f:data\":{}}\nthree Update {\"f:data\":{\"f:b\":{}}}\n")
	force := true
	err = tracker.Apply(configMaps, configMap(map[string]any{"b": "3"}), "default", metav1.PatchOptions{FieldManager: "two"})
	if !apierrors.IsConflict(err) {
		t.Errorf("a conflict is %v", err)
	}
	write(tracker.Apply(configMaps, configMap(map[string]any{"b": "3"}), "default", metav1.PatchOptions{FieldManager: "two", Force: &force}))
	if err := tracker.Update(configMaps, &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "other"}}}, "default"); !apierrors.IsNotFound(err) {
		t.Errorf("an update of what is not there is %v", err)
	}
	if err := tracker.Create(configMaps, &unstructured.Unstructured{Object: map[string]any{}}, "default"); err == nil {
		t.Error("an object without kind is created")
	}
	if err := tracker.Create(configMaps, nil, "default"); err == nil {
		t.Error("nil is created")
	}
	twice := configMap(nil)
	if err := tracker.Create(configMaps, twice, "default"); !apierrors.IsAlreadyExists(err) || twice.GetManagedFields() != nil {
		t.Errorf("a second create is %v, and changes the object to %v", err, twice)
	}
	bare := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	bare.ManagedFields = []metav1.ManagedFieldsEntry{} // the JSON of bare omits the list
	write(tracker.Patch(configMaps, bare, "default"))
	if object, err := tracker.Get(configMaps, "default", "web"); err != nil || len(object.(*metav1.PartialObjectMetadata).ManagedFields) > 0 {
		t.Errorf("a patch that empties managed fields leaves %v, %v", object, err)
	}
}

// TestKinds writes objects of other kinds than the resource, and of a kind without a schema.
func TestKinds(t *testing.T) {
	tracker, err := fake.NewTracker(storage{objects: map[string]runtime.Object{}}, runtime.NewScheme(), nil)
	if err != nil {
		t.Fatal(err)
	}
	object := func(apiVersion, kind string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": "web"}, "spec": map[string]any{"replicas": int64(1)},
		}}
	}
	deployments := gvkschema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	if err := tracker.Apply(deployments, object("apps/v1", "StatefulSet"), "default"); !apierrors.IsBadRequest(err) {
		t.Errorf("an apply of another kind is %v", err)
	}
	if err := tracker.Apply(deployments, object("apps/v1beta1", "Deployment"), "default"); !apierrors.IsBadRequest(err) {
		t.Errorf("an apply of another version is %v", err)
	}
	if err := tracker.Apply(gvkschema.GroupVersionResource{Version: "v1", Resource: "configMaps"}, object("v1", "ConfigMap"), "default"); err != nil {
		t.Errorf("a name of a resource in mixed case: %v", err)
	}
	delete(tracker.Storage.(storage).objects, "web")
	if err := tracker.Create(deployments, object("apps/v1", "Deployment"), "default"); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"apply":  tracker.Apply(deployments, object("autoscaling/v1", "Scale"), "default"),
		"update": tracker.Update(deployments, object("autoscaling/v1", "Scale"), "default"),
		"patch":  tracker.Patch(deployments, object("autoscaling/v1", "Scale"), "default"),
	} {
		if !apierrors.IsBadRequest(err) {
			t.Errorf("an %s of a Scale to a Deployment is %v", what, err)
		}
	}
	delete(tracker.Storage.(storage).objects, "web")
	reviews := gvkschema.GroupVersionResource{Group: "authentication.k8s.io", Version: "v1", Resource: "tokenreviews"}
	if err := tracker.Create(reviews, object("authentication.k8s.io/v1", "TokenReview"), ""); err != nil {
		t.Errorf("a kind without a schema: %v", err)
	}
}

// TestConcurrentApplies applies to one object at the same time. No apply is lost.
func TestConcurrentApplies(t *testing.T) {
	tracker, err := fake.NewTracker(storage{objects: map[string]runtime.Object{}}, runtime.NewScheme(), nil)
	if err != nil {
		t.Fatal(err)
	}
	const writers = 20
	var group sync.WaitGroup
	for i := range writers {
		group.Go(func() {
			name := fmt.Sprint("writer", i)
			if err := tracker.Apply(configMaps, configMap(map[string]any{name: "a"}), "default", metav1.PatchOptions{FieldManager: name}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	object, err := tracker.Get(configMaps, "default", "web")
	if err != nil {
		t.Fatal(err)
	}
	if got := len(object.(*unstructured.Unstructured).GetManagedFields()); got != writers {
		t.Errorf("%d of %d applies count", got, writers)
	}
}
