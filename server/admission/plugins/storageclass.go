package plugins

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// StorageClasses is the plugins DefaultStorageClass and PersistentVolumeClaimResize.
type StorageClasses struct{ Store store.Store }

// claimClass is the annotation that named the class of a claim before the field did. It still has precedence.
const claimClass = "volume.beta.kubernetes.io/storage-class"

// Default gives a new claim the default class if it names none.
func (c StorageClasses) Default(ctx context.Context, r *admission.Request) error {
	if !isFor(r, claims, admission.Create) {
		return nil
	}
	claim := r.Object.Content()
	if !claim.Get("metadata", "annotations").Get(claimClass).IsAbsent() || isSet(claim.Get("spec", "storageClassName")) {
		return nil
	}
	name, err := defaultClass(ctx, c.Store, storageClassesPrefix,
		"storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")
	if err != nil {
		return forbid(r, err)
	}
	if name != "" {
		withSpec(r, "storageClassName", value.String(name))
	}
	return nil
}

// Resize refuses to let a claim grow unless it is bound and its class allows that.
func (c StorageClasses) Resize(ctx context.Context, r *admission.Request) error {
	if !isFor(r, claims, admission.Update) {
		return nil
	}
	is, was := r.Object.Content(), r.Old.Content()
	if size := sizeOf(is); size.Cmp(sizeOf(was)) <= 0 {
		return nil
	}
	if was.Get("status", "phase").Str() != "Bound" {
		return forbid(r, errors.New("Only bound persistent volume claims can be expanded"))
	}
	if !c.grows(ctx, is, was) {
		return forbid(r, errors.New("only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"))
	}
	return nil
}

// grows reports whether the class of a claim allows its volumes to grow.
func (c StorageClasses) grows(ctx context.Context, is, was value.Value) bool {
	name := ClassOf(is)
	if name == "" || name != ClassOf(was) {
		return false
	}
	class, err := object(ctx, c.Store, storageClassesPrefix+name)
	return err == nil && class.Get("allowVolumeExpansion").Bool()
}

// ClassOf returns the class of a claim, "" if it has none.
func ClassOf(claim value.Value) string {
	if named := claim.Get("metadata", "annotations").Get(claimClass); !named.IsAbsent() {
		return named.Str()
	}
	return claim.Get("spec", "storageClassName").Str()
}

// sizeOf returns the storage that a claim requests.
func sizeOf(claim value.Value) resource.Quantity {
	return Quantity(claim.Get("spec", "resources", "requests", "storage"))
}

// Quantity returns a quantity of an object that is valid; the zero one if v is absent.
func Quantity(v value.Value) resource.Quantity {
	q, _ := resource.ParseQuantity(v.Str())
	return q
}
