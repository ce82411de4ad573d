// Package unenforced knows the resources whose objects decide about requests in kube-apiserver, and are only stored by this server.
package unenforced

import (
	"context"
	"slices"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/logs"
	"github.com/deed-project/deed/server/registry"
	"github.com/deed-project/deed/server/store"
)

const admissionGroup = "admissionregistration.k8s.io"

// kinds lists the resources.
var kinds = []struct {
	kind      string // in the plural
	resources []kschema.GroupResource
}{
	{"ValidatingAdmissionPolicies", []kschema.GroupResource{
		{Group: admissionGroup, Resource: "validatingadmissionpolicies"},
		{Group: admissionGroup, Resource: "validatingadmissionpolicybindings"},
	}},
	{"MutatingAdmissionPolicies", []kschema.GroupResource{
		{Group: admissionGroup, Resource: "mutatingadmissionpolicies"},
		{Group: admissionGroup, Resource: "mutatingadmissionpolicybindings"},
	}},
	{"LimitRanges", []kschema.GroupResource{{Resource: "limitranges"}}},
	{"ResourceQuotas", []kschema.GroupResource{{Resource: "resourcequotas"}}},
}

// Kinds returns the names of the kinds, in the plural.
func Kinds() []string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.kind)
	}
	return names
}

// Warn is an admission plugin that warns of objects that have no effect.
//
// Only the main endpoint warns: the object itself is what has no effect.
func Warn(_ context.Context, r *admission.Request) error {
	if r.Object.IsAbsent() || r.Subresource != "" {
		return nil
	}
	for _, k := range kinds {
		if slices.Contains(k.resources, r.Resource.GroupResource()) {
			r.Warn("this server stores " + k.kind + " but does not enforce them")
		}
	}
	return nil
}

// Report logs the resources that have stored objects without an effect.
//
// The server calls it at its start, because writers of objects that are already stored get no warning.
func Report(ctx context.Context, s store.Store, c *catalog.Catalog, log logs.Logger) {
	for _, k := range kinds {
		for _, resource := range k.resources {
			r := c.Lookup(resource.Group, resource.Resource)
			if r == nil {
				continue
			}
			if empty, err := registry.IsEmpty(ctx, s, r.Prefix); err == nil && !empty {
				log.Warn("objects are stored but not enforced", logs.Name("resource", resource.String()))
			}
		}
	}
}
