package builtin

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/catalog/tables"
	"github.com/deed-project/deed/value"
)

// Namespaces returns the resource namespaces. now is the clock of managed fields.
//
// A namespace is labelled with its name, waits for the finalizer kubernetes until its content is deleted, and is in phase Active
// or Terminating. Which of its endpoints may change what:
//
//	namespaces           everything but spec.finalizers and the status
//	namespaces/status    the status
//	namespaces/finalize  spec.finalizers
func Namespaces(now func() time.Time) (*catalog.Resource, error) {
	gvk := schema.GVK{Version: "v1", Kind: "Namespace"}
	r := &catalog.Resource{
		Plural: "namespaces", Singular: "namespace", Kind: gvk.Kind, ListKind: "NamespaceList", ShortNames: []string{"ns"},
		Verbs:  []string{"create", "delete", "get", "list", "patch", "update", "watch"},
		Stored: gvk.Version, Prefix: "/registry/namespaces/",
	}
	form := &Form{
		GVK: gvk, New: func() any { return &corev1.Namespace{} }, Default: labelNamespace,
		Create: prepareNamespace, Update: prepareNamespaceUpdate, Validate: validateNamespace,
		Delete: func(live value.Value) value.Value { return live.With("status", phase("Terminating")) },
		Hold:   func(object value.Value) bool { return object.At("spec", "finalizers").Len() > 0 },
	}
	v := &catalog.Version{Resource: r, Name: gvk.Version, Form: form, New: form.New, Fields: []string{"status.phase"}}
	v.Columns, v.Row = tables.Of(r.Plural, gvk)
	r.Versions = []*catalog.Version{v}
	return r, AddManagers(v, now, "spec.finalizers")
}

// labelNamespace gives a namespace the label with its name.
func labelNamespace(object any) {
	ns := object.(*corev1.Namespace)
	if ns.Name == "" {
		return
	}
	if ns.Labels == nil {
		ns.Labels = map[string]string{}
	}
	ns.Labels[corev1.LabelMetadataName] = ns.Name
}

func prepareNamespace(object value.Value) value.Value {
	name := api.Meta(object, "name")
	labels := object.At("metadata", "labels")
	if labels.IsAbsent() {
		labels = value.Object()
	}
	object = api.WithMetadata(object, "labels", labels.With(corev1.LabelMetadataName, value.String(name)))
	object = object.With("spec", value.Object(value.Member{Name: "finalizers", Value: value.List(value.String("kubernetes"))}))
	return object.With("status", phase("Active"))
}

func phase(name string) value.Value {
	return value.Object(value.Member{Name: "phase", Value: value.String(name)})
}

func prepareNamespaceUpdate(object, live value.Value, subresource string) value.Value {
	switch subresource {
	case "status":
		return object.With("spec", live.Get("spec"))
	case "finalize":
		return live.With("spec", object.Get("spec")).With("metadata", object.Get("metadata"))
	}
	return object.With("spec", live.Get("spec")).With("status", live.Get("status"))
}

func validateNamespace(_ context.Context, object, live value.Value, _ string) field.ErrorList {
	if !live.IsAbsent() {
		return nil
	}
	var errs field.ErrorList
	name := api.Meta(object, "name")
	for _, text := range validation.IsDNS1123Label(name) {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), name, text))
	}
	return errs
}
