// Package fake keeps managed fields for fake clients.
//
// A [Tracker] is an ObjectTracker of client-go's package testing. It stores objects in another tracker. It keeps their managed fields
// with the types of a [kube.Registry], so that applies merge, conflict and prune as on a server. The fake clientsets of client-go and the
// fake client of controller-runtime (WithObjectTracker) both take it.
//
// A tracker is no server. It does not validate, convert or fill in default values, and does not know subresources. The caller's fake
// client may do so. Package apitest of the module server is an API server in the process of a test.
package fake

import (
	"fmt"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	gvkschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/deed-project/deed/kube"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
)

// Storage stores objects. It has the methods of client-go's testing.ObjectTracker, so that testing.NewObjectTracker returns one.
type Storage interface {
	Add(obj runtime.Object) error
	Get(gvr gvkschema.GroupVersionResource, ns, name string, opts ...metav1.GetOptions) (runtime.Object, error)
	Create(gvr gvkschema.GroupVersionResource, obj runtime.Object, ns string, opts ...metav1.CreateOptions) error
	Update(gvr gvkschema.GroupVersionResource, obj runtime.Object, ns string, opts ...metav1.UpdateOptions) error
	Patch(gvr gvkschema.GroupVersionResource, obj runtime.Object, ns string, opts ...metav1.PatchOptions) error
	Apply(gvr gvkschema.GroupVersionResource, applyConfiguration runtime.Object, ns string, opts ...metav1.PatchOptions) error
	List(gvr gvkschema.GroupVersionResource, gvk gvkschema.GroupVersionKind, ns string, opts ...metav1.ListOptions) (runtime.Object, error)
	Delete(gvr gvkschema.GroupVersionResource, ns, name string, opts ...metav1.DeleteOptions) error
	Watch(gvr gvkschema.GroupVersionResource, ns string, opts ...metav1.ListOptions) (watch.Interface, error)
}

// Tracker is a Storage that keeps managed fields. Methods that it does not define are those of the storage. It is safe for concurrent use
// if the storage is.
type Tracker struct {
	Storage
	scheme   *runtime.Scheme
	registry *kube.Registry
	writing  sync.Mutex // held from the read of the live object to the end of a write, so that concurrent applies all count
}

// NewTracker returns a tracker that stores objects in storage. scheme has their Go types; objects of other kinds are unstructured.
// registry has the schemas. Kinds and fields that it lacks merge without a schema. A nil registry has the built-in kinds only.
func NewTracker(storage Storage, scheme *runtime.Scheme, registry *kube.Registry) (*Tracker, error) {
	if registry == nil {
		var err error
		if registry, err = kube.NewRegistry(kube.Sources{}); err != nil {
			return nil, err
		}
	}
	return &Tracker{Storage: storage, scheme: scheme, registry: registry}, nil
}

// Create adds obj, owned by the field manager of opts.
func (t *Tracker) Create(gvr gvkschema.GroupVersionResource, obj runtime.Object, ns string, opts ...metav1.CreateOptions) error {
	o, err := single(opts)
	if err != nil {
		return err
	}
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	t.writing.Lock()
	defer t.writing.Unlock()
	if _, err := t.Get(gvr, ns, accessor.GetName()); err == nil {
		return t.Storage.Create(gvr, obj, ns, opts...) // which refuses obj, and leaves it as it is
	}
	if err := t.track(gvr, nil, obj, o.FieldManager); err != nil {
		return err
	}
	return t.Storage.Create(gvr, obj, ns, opts...)
}

// Update replaces an object by obj. The field manager of opts owns the changes.
func (t *Tracker) Update(gvr gvkschema.GroupVersionResource, obj runtime.Object, ns string, opts ...metav1.UpdateOptions) error {
	o, err := single(opts)
	if err != nil {
		return err
	}
	t.writing.Lock()
	defer t.writing.Unlock()
	if err := t.replace(gvr, obj, ns, o.FieldManager); err != nil {
		return err
	}
	return t.Storage.Update(gvr, obj, ns, opts...)
}

// Patch replaces an object by obj, the result of a patch. The field manager of opts owns the changes.
func (t *Tracker) Patch(gvr gvkschema.GroupVersionResource, obj runtime.Object, ns string, opts ...metav1.PatchOptions) error {
	o, err := single(opts)
	if err != nil {
		return err
	}
	t.writing.Lock()
	defer t.writing.Unlock()
	if err := t.replace(gvr, obj, ns, o.FieldManager); err != nil {
		return err
	}
	return t.Storage.Patch(gvr, obj, ns, opts...)
}

// replace tracks obj as the replacement of the object with its name.
func (t *Tracker) replace(gvr gvkschema.GroupVersionResource, obj runtime.Object, ns, manager string) error {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	live, err := t.Get(gvr, ns, accessor.GetName())
	if err != nil {
		return err
	}
	return t.track(gvr, live, obj, manager)
}

// Apply applies a configuration for the field manager of opts. Conflicts are an error with the reason Conflict, unless opts has force. A
// configuration of another kind or version than the resource is an error with the reason BadRequest.
func (t *Tracker) Apply(gvr gvkschema.GroupVersionResource, applyConfiguration runtime.Object, ns string, opts ...metav1.PatchOptions) error {
	o, err := single(opts)
	if err != nil {
		return err
	}
	accessor, err := meta.Accessor(applyConfiguration)
	if err != nil {
		return err
	}
	t.writing.Lock()
	defer t.writing.Unlock()
	live, err := t.Get(gvr, ns, accessor.GetName())
	exists := err == nil
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	out, err := t.applied(gvr, live, applyConfiguration, o)
	if err != nil {
		return err
	}
	if !exists {
		return t.Storage.Create(gvr, out, ns, metav1.CreateOptions{DryRun: o.DryRun, FieldManager: o.FieldManager, FieldValidation: o.FieldValidation})
	}
	return t.Storage.Update(gvr, out, ns, metav1.UpdateOptions{DryRun: o.DryRun, FieldManager: o.FieldManager, FieldValidation: o.FieldValidation})
}

// IsWatchListSemanticsUnSupported tells reflectors that watches have no initial events.
func (t *Tracker) IsWatchListSemanticsUnSupported() bool { return true }

// applied returns the outcome of an apply to live. live is nil if no object exists yet.
func (t *Tracker) applied(gvr gvkschema.GroupVersionResource, live, config runtime.Object, o metav1.PatchOptions) (runtime.Object, error) {
	desired, gvk, err := t.object(gvr, config)
	if err != nil {
		return nil, err
	}
	if gvk.GroupVersion() != gvr.GroupVersion() || !serves(gvr.Resource, gvk) {
		return nil, otherKind(gvk)
	}
	before, err := t.before(gvr, live, gvk)
	if err != nil {
		return nil, err
	}
	m, err := t.manager(gvk)
	if err != nil {
		return nil, err
	}
	after, err := m.Apply(before, desired, o.FieldManager, o.Force != nil && *o.Force)
	if err != nil {
		return nil, kube.StatusError(err)
	}
	out, err := t.scheme.New(gvk)
	if err != nil {
		out = &unstructured.Unstructured{}
	}
	return out, kube.Into(after, out)
}

// track sets the managed fields of obj, which replaces live. If live is nil, obj is created.
func (t *Tracker) track(gvr gvkschema.GroupVersionResource, live, obj runtime.Object, manager string) error {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	object, gvk, err := t.object(gvr, obj)
	if err != nil {
		return err
	}
	before, err := t.before(gvr, live, gvk)
	if err != nil {
		return err
	}
	m, err := t.manager(gvk)
	if err != nil {
		return err
	}
	after, err := m.Update(before, object, manager)
	if err != nil {
		return kube.StatusError(err)
	}
	accessor.SetManagedFields(kube.ManagedFields(after.Entries))
	return nil
}

// before returns the live object that a write of kind gvk starts from. live is nil if no object exists yet. Other kinds, such as the
// Scale of a Deployment, are refused: to store one would replace the object.
func (t *Tracker) before(
	gvr gvkschema.GroupVersionResource, live runtime.Object, gvk gvkschema.GroupVersionKind,
) (managedfields.Object, error) {
	if live == nil {
		return managedfields.Object{}, nil
	}
	object, stored, err := t.object(gvr, live)
	if err == nil && stored.GroupKind() != gvk.GroupKind() {
		err = otherKind(gvk)
	}
	return object, err
}

// serves reports whether a resource may have objects of kind gvk. Of kinds that are not built in, any resource may. Names of resources may
// have any case, and be singular, as for a REST mapper.
func serves(resource string, gvk gvkschema.GroupVersionKind) bool {
	k, ok := builtin.Lookup(schema.GVK(gvk))
	return !ok || k.Resource == "" || strings.EqualFold(resource, k.Resource) || strings.EqualFold(resource, gvk.Kind)
}

// otherKind returns the error for an object of another kind than its resource, with the message of kube-apiserver.
func otherKind(gvk gvkschema.GroupVersionKind) error {
	return apierrors.NewBadRequest(fmt.Sprintf("invalid object type: %v", gvk))
}

// object returns obj with its kind, in the version of gvr. A typed object may omit its kind.
func (t *Tracker) object(gvr gvkschema.GroupVersionResource, obj runtime.Object) (managedfields.Object, gvkschema.GroupVersionKind, error) {
	gvk := obj.GetObjectKind().GroupVersionKind()
	if _, isUnstructured := obj.(runtime.Unstructured); !isUnstructured && gvk.Kind == "" {
		gvks, _, err := t.scheme.ObjectKinds(obj)
		if err != nil {
			return managedfields.Object{}, gvk, err
		}
		gvk = gvks[0]
		for _, other := range gvks {
			if other.GroupVersion() == gvr.GroupVersion() {
				gvk = other
			}
		}
	}
	if gvk.Kind == "" {
		return managedfields.Object{}, gvk, fmt.Errorf("the object of %v has no kind", gvr)
	}
	object, err := kube.ObjectOf(obj)
	if err != nil {
		return object, gvk, err
	}
	if accessor, err := meta.Accessor(obj); err == nil && object.Entries == nil && accessor.GetManagedFields() != nil {
		object.Entries = []managedfields.Entry{} // a patch emptied the list, which the JSON of a typed object does not show
	}
	for name, v := range map[string]string{"apiVersion": gvk.GroupVersion().String(), "kind": gvk.Kind} {
		if object, err = kube.Set(object, v, name); err != nil {
			return object, gvk, err
		}
	}
	return object, gvk, nil
}

// manager returns the field manager of a kind without default values and subresources, which only a server has.
func (t *Tracker) manager(gvk gvkschema.GroupVersionKind) (*managedfields.FieldManager, error) {
	e, err := t.registry.Lenient(gvk, "")
	if err != nil {
		return nil, err
	}
	c := e.Config
	return managedfields.New(managedfields.Config{GVK: c.GVK, Types: c.Types, Converter: c.Converter, Empty: c.Empty})
}

// single returns the only one of opts, or the zero value if there is none.
func single[T any](opts []T) (T, error) {
	var zero T
	switch len(opts) {
	case 0:
		return zero, nil
	case 1:
		return opts[0], nil
	}
	return zero, fmt.Errorf("expected only one option argument but got %d", len(opts))
}
