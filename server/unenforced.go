package server

import (
	"context"
	"slices"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/logs"
)

// unenforced lists the resources whose objects decide about requests in kube-apiserver, and do not in this server.
var unenforced = []struct {
	kind      string // in the plural
	resources []kschema.GroupResource
}{
	{"ValidatingAdmissionPolicies", []kschema.GroupResource{
		{Group: configurationGroup, Resource: "validatingadmissionpolicies"},
		{Group: configurationGroup, Resource: "validatingadmissionpolicybindings"},
	}},
	{"MutatingAdmissionPolicies", []kschema.GroupResource{
		{Group: configurationGroup, Resource: "mutatingadmissionpolicies"},
		{Group: configurationGroup, Resource: "mutatingadmissionpolicybindings"},
	}},
	{"LimitRanges", []kschema.GroupResource{{Resource: "limitranges"}}},
	{"ResourceQuotas", []kschema.GroupResource{{Resource: "resourcequotas"}}},
}

// Unenforced returns the kinds, in the plural, that decide about requests in kube-apiserver, while a Server only stores their objects.
// Creating or updating such an object is answered with a warning.
func Unenforced() []string {
	var kinds []string
	for _, u := range unenforced {
		kinds = append(kinds, u.kind)
	}
	return kinds
}

// warnUnenforced warns of objects that are stored and have no effect. It is a plugin of admission.
func warnUnenforced(_ context.Context, r *admission.Request) error {
	if r.Object.IsAbsent() || r.Subresource != "" {
		return nil
	}
	for _, u := range unenforced {
		if slices.Contains(u.resources, r.Resource.GroupResource()) {
			r.Warn("this server stores " + u.kind + " but does not enforce them")
		}
	}
	return nil
}

// reportUnenforced logs of which kinds there are objects that have no effect.
func (s *Server) reportUnenforced(ctx context.Context) {
	for _, u := range unenforced {
		for _, resource := range u.resources {
			if r := s.catalog.Load().Lookup(resource.Group, resource.Resource); r != nil && !s.isEmpty(ctx, r.Prefix) {
				s.log.Warn("objects are stored but not enforced", logs.Name("resource", resource.String()))
			}
		}
	}
}
