package plugins

import (
	"context"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// IngressClasses is the plugin DefaultIngressClass.
type IngressClasses struct{ Store store.Store }

// Default gives a new Ingress the default class if it names none, in the field or in the annotation that had the name before.
func (c IngressClasses) Default(ctx context.Context, r *admission.Request) error {
	if !isFor(r, ingresses, admission.Create) {
		return nil
	}
	ingress := r.Object.Content()
	if isSet(ingress.Get("spec", "ingressClassName")) || !ingress.Get("metadata", "annotations").Get("kubernetes.io/ingress.class").IsAbsent() {
		return nil
	}
	name, err := defaultClass(ctx, c.Store, ingressClassesPrefix, "ingressclass.kubernetes.io/is-default-class")
	if err != nil {
		return forbid(r, err)
	}
	if name != "" {
		withSpec(r, "ingressClassName", value.String(name))
	}
	return nil
}
