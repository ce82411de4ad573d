// Package volumes has the admission plugin StorageObjectInUseProtection.
package volumes

import (
	"context"
	"slices"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/value"
)

// finalizers has, by resource, the finalizer that protects an object while it is used.
var finalizers = map[kschema.GroupResource]string{
	{Resource: "persistentvolumes"}:                                "kubernetes.io/pv-protection",
	{Resource: "persistentvolumeclaims"}:                           "kubernetes.io/pvc-protection",
	{Group: "storage.k8s.io", Resource: "volumeattributesclasses"}: "kubernetes.io/vac-protection",
}

// Protect gives a new volume, claim or attributes class its finalizer, as StorageObjectInUseProtection of kube-apiserver does. As there,
// only a controller of a cluster takes the finalizer away again.
//
// An object that comes with the finalizer, or whose metadata is no object, stays as it is.
func Protect(_ context.Context, r *admission.Request) error {
	finalizer, ok := finalizers[r.Resource.GroupResource()]
	if !ok || r.Subresource != "" || r.Operation != admission.Create {
		return nil
	}
	object := r.Object.Content()
	metadata := object.Get("metadata")
	had := slices.Collect(metadata.Get("finalizers").Items())
	if slices.ContainsFunc(had, value.String(finalizer).Equal) || metadata.Kind() != value.KindObject {
		return nil
	}
	metadata = metadata.With("finalizers", value.List(append(had, value.String(finalizer))...))
	r.Object = r.Object.With(object.With("metadata", metadata))
	return nil
}
