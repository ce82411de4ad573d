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

// Kind is a kind whose objects have no effect.
type Kind struct {
	name      string // in the plural
	plugin    string // the admission plugin of kube-apiserver that gives them effect
	resources []kschema.GroupResource
}

// Kinds are kinds whose objects have no effect.
type Kinds []Kind

// all lists the kinds that an admission plugin gives effect.
var all = Kinds{
	{"ValidatingAdmissionPolicies", "ValidatingAdmissionPolicy", []kschema.GroupResource{
		{Group: admissionGroup, Resource: "validatingadmissionpolicies"},
		{Group: admissionGroup, Resource: "validatingadmissionpolicybindings"},
	}},
	{"MutatingAdmissionPolicies", "MutatingAdmissionPolicy", []kschema.GroupResource{
		{Group: admissionGroup, Resource: "mutatingadmissionpolicies"},
		{Group: admissionGroup, Resource: "mutatingadmissionpolicybindings"},
	}},
	{"LimitRanges", "LimitRanger", []kschema.GroupResource{{Resource: "limitranges"}}},
	{"ResourceQuotas", "ResourceQuota", []kschema.GroupResource{{Resource: "resourcequotas"}}},
}

// Without returns the kinds that have no effect if the named admission plugins run.
func Without(plugins ...string) Kinds {
	return slices.DeleteFunc(slices.Clone(all), func(k Kind) bool { return slices.Contains(plugins, k.plugin) })
}

// Names returns the names of the kinds, in the plural.
func (k Kinds) Names() []string {
	var names []string
	for _, kind := range k {
		names = append(names, kind.name)
	}
	return names
}

// Warn is an admission plugin that warns of objects that have no effect.
//
// Only the main endpoint warns: the object itself is what has no effect.
func (k Kinds) Warn(_ context.Context, r *admission.Request) error {
	if r.Object.IsAbsent() || r.Subresource != "" {
		return nil
	}
	for _, kind := range k {
		if slices.Contains(kind.resources, r.Resource.GroupResource()) {
			r.Warn("this server stores " + kind.name + " but does not enforce them")
		}
	}
	return nil
}

// Report logs the resources that have stored objects without an effect.
//
// The server calls it at its start, because writers of objects that are already stored get no warning.
func (k Kinds) Report(ctx context.Context, s store.Store, c *catalog.Catalog, log logs.Logger) {
	for _, kind := range k {
		for _, resource := range kind.resources {
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
