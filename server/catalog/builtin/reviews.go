package builtin

import (
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/kinds"
	"github.com/deed-project/deed/value"
)

// Reviews returns the virtual resources of authentication and authorization. Their only verb is create, and their objects are not stored.
// now is the clock of managed fields.
func Reviews(now func() time.Time) []*catalog.Resource {
	out := []*catalog.Resource{
		review("authentication.k8s.io", "TokenReview", func() any { return &authenticationv1.TokenReview{} }),
		review("authorization.k8s.io", "SubjectAccessReview", func() any { return &authorizationv1.SubjectAccessReview{} }),
		namespaced(review("authorization.k8s.io", "LocalSubjectAccessReview", func() any {
			return &authorizationv1.LocalSubjectAccessReview{}
		})),
		review("authentication.k8s.io", "SelfSubjectReview", func() any { return &authenticationv1.SelfSubjectReview{} }),
		review("authorization.k8s.io", "SelfSubjectAccessReview", func() any { return &authorizationv1.SelfSubjectAccessReview{} }),
		review("authorization.k8s.io", "SelfSubjectRulesReview", func() any { return &authorizationv1.SelfSubjectRulesReview{} }),
	}
	for _, r := range out {
		// Types can be deduced from the objects, because no field is part of a list.
		manageReview(r.Versions[0], "", schema.Deduced, now)
	}
	return out
}

// manageReview sets the field manager for objects that clients send to v. subresource is the subresource of another resource that takes
// them, "" if there is none.
//
// The objects are never stored, but kube-apiserver tracks managed fields while it creates them, and admission sees them.
func manageReview(v *catalog.Version, subresource string, typ *schema.Type, now func() time.Time) {
	gvk := v.GVK()
	v.Main = onceAsked(gvk, func() (*managedfields.FieldManager, error) {
		form := *v.Form.(*Form)
		form.Default = nil // defaults count as sent
		empty, err := form.Complete(value.Object(
			value.Member{Name: "apiVersion", Value: value.String(gvk.APIVersion())}, value.Member{Name: "kind", Value: value.String(gvk.Kind)},
		))
		if err != nil {
			return nil, err
		}
		return managedfields.New(managedfields.Config{
			GVK: gvk, Subresource: subresource, Types: map[string]*schema.Type{gvk.APIVersion(): typ}, Empty: empty, Now: now,
		})
	})
}

// namespaced returns r, which it makes a resource of namespaces.
func namespaced(r *catalog.Resource) *catalog.Resource {
	r.Namespaced = true
	return r
}

// review returns a virtual resource with one version, v1, and the verb create. empty returns an empty object of its Go type.
func review(group, kind string, empty func() any) *catalog.Resource {
	gvk := schema.GVK{Group: group, Version: "v1", Kind: kind}
	r := &catalog.Resource{
		Group: group, Plural: strings.ToLower(kind) + "s", Singular: strings.ToLower(kind), Kind: kind,
		Verbs: []string{"create"}, Stored: gvk.Version, Virtual: true,
	}
	r.Versions = []*catalog.Version{{Resource: r, Name: gvk.Version, Form: &Form{GVK: gvk, Known: kinds.Versions(gvk), New: empty}, New: empty}}
	return r
}
