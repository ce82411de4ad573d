// Package csa moves the fields of client-side apply to server-side apply.
//
// [FindFieldsOwners], [UpgradeManagedFields] and [UpgradeManagedFieldsPatch] have the signatures and outcomes of client-go's package
// csaupgrade, so that its callers change one import:
//
//	import csaupgrade "github.com/deed-project/deed/kube/csa"
//
// [Preview] shows the effects of a migration beforehand: the owners of all fields afterwards, and the fields that the next apply removes.
// [InventoryOf] reads which objects Flux, Argo CD or Helm manage, and [MigrateInventory] migrates them all.
package csa

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	gvkschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	smdfieldpath "sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/deed-project/deed/kube"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/ownership"
)

// Option changes the scope of a migration.
type Option func(*options)

type options struct{ subresource string }

// Subresource migrates the fields that were written through a subresource. Without this option, the fields of the object itself are
// migrated.
func Subresource(s string) Option { return func(o *options) { o.subresource = s } }

func optionsOf(opts []Option) options {
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// FindFieldsOwners returns the entries of an operation that own all of fields. An invalid entry owns nothing.
func FindFieldsOwners(
	managedFields []metav1.ManagedFieldsEntry, operation metav1.ManagedFieldsOperationType, fields *smdfieldpath.Set,
) []metav1.ManagedFieldsEntry {
	var out []metav1.ManagedFieldsEntry
	for _, e := range managedFields {
		if e.Operation != operation || e.FieldsV1 == nil {
			continue
		}
		var owned smdfieldpath.Set
		if err := owned.FromJSON(strings.NewReader(e.FieldsV1.GetRawString())); err == nil && fields.Difference(&owned).Empty() {
			out = append(out, e)
		}
	}
	return out
}

// UpgradeManagedFields moves the fields of obj that belong to updaters called csaManagerNames to the applier called ssaManagerName: see
// [ownership.Migrate]. Several names are migrated in sorted order, not in a random one. If none of them has an entry, obj does not
// change. UpgradeManagedFields returns an error if obj has no metadata, or if an entry is invalid.
func UpgradeManagedFields(obj runtime.Object, csaManagerNames sets.Set[string], ssaManagerName string, opts ...Option) error {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	after, err := upgraded(accessor.GetManagedFields(), csaManagerNames, ssaManagerName, optionsOf(opts))
	if err != nil {
		return err
	}
	accessor.SetManagedFields(after)
	return nil
}

// UpgradeManagedFieldsPatch returns the JSON patch with the effect of [UpgradeManagedFields], and nil if there is nothing to do. A server
// refuses the patch as a conflict if the object has changed since obj was read.
func UpgradeManagedFieldsPatch(obj runtime.Object, csaManagerNames sets.Set[string], ssaManagerName string, opts ...Option) ([]byte, error) {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	before := accessor.GetManagedFields()
	after, err := upgraded(before, csaManagerNames, ssaManagerName, optionsOf(opts))
	if err != nil || reflect.DeepEqual(before, after) {
		return nil, err
	}
	return json.Marshal([]map[string]any{
		{"op": "replace", "path": "/metadata/managedFields", "value": after},
		{"op": "replace", "path": "/metadata/resourceVersion", "value": accessor.GetResourceVersion()},
	})
}

// upgraded returns entries after a migration, and before itself if there is nothing to migrate.
func upgraded(before []metav1.ManagedFieldsEntry, from sets.Set[string], to string, o options) ([]metav1.ManagedFieldsEntry, error) {
	if from.Len() == 0 {
		return before, nil
	}
	after, err := ownership.Migrate(managedfields.Object{Entries: kube.Entries(before)}, nil, sets.List(from), to, o.subresource)
	if errors.Is(err, ownership.ErrNoManager) {
		return before, nil
	}
	if err != nil {
		return nil, err
	}
	return kube.ManagedFields(after), nil
}

// Preview shows the effects of [UpgradeManagedFields] on obj, and of the next apply of config by ssaManagerName after it. It lists the
// live values that the apply removes and keeps, and its conflicts. Entries of other versions are converted: see [ownership.Migrate]. obj
// and config are in a form that [kube.ObjectOf] reads. registry has the kind; a nil registry has the built-in kinds only.
//
// The error wraps [ownership.ErrNoManager] if there is nothing to migrate. Other errors are those of [kube.Registry.Manager] and
// [ownership.PlanMigration].
func Preview(
	obj, config any, registry *kube.Registry, csaManagerNames sets.Set[string], ssaManagerName string, opts ...Option,
) (*ownership.Migration, error) {
	if registry == nil {
		var err error
		if registry, err = kube.NewRegistry(kube.Sources{}); err != nil {
			return nil, err
		}
	}
	live, err := kube.ObjectOf(obj)
	if err != nil {
		return nil, fmt.Errorf("live object: %w", err)
	}
	next, err := kube.ObjectOf(config)
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	m, err := registry.Manager(gvkschema.GroupVersionKind(next.GVK()), optionsOf(opts).subresource)
	if err != nil {
		return nil, err
	}
	return ownership.PlanMigration(m, live, next, sets.List(csaManagerNames), ssaManagerName)
}
