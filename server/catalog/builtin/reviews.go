package builtin

import (
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/server/catalog"
)

// Reviews returns the resources that are questions to the server about who a client or somebody else is, and may do. They can be created
// and nothing else, and are not stored.
func Reviews() []*catalog.Resource {
	return []*catalog.Resource{
		review("authentication.k8s.io", "TokenReview", func() any { return &authenticationv1.TokenReview{} }),
		review("authorization.k8s.io", "SubjectAccessReview", func() any { return &authorizationv1.SubjectAccessReview{} }),
		namespaced(review("authorization.k8s.io", "LocalSubjectAccessReview", func() any {
			return &authorizationv1.LocalSubjectAccessReview{}
		})),
		review("authentication.k8s.io", "SelfSubjectReview", func() any { return &authenticationv1.SelfSubjectReview{} }),
		review("authorization.k8s.io", "SelfSubjectAccessReview", func() any { return &authorizationv1.SelfSubjectAccessReview{} }),
		review("authorization.k8s.io", "SelfSubjectRulesReview", func() any { return &authorizationv1.SelfSubjectRulesReview{} }),
	}
}

func namespaced(r *catalog.Resource) *catalog.Resource {
	r.Namespaced = true
	return r
}

func review(group, kind string, empty func() any) *catalog.Resource {
	gvk := schema.GVK{Group: group, Version: "v1", Kind: kind}
	r := &catalog.Resource{
		Group: group, Plural: strings.ToLower(kind) + "s", Singular: strings.ToLower(kind), Kind: kind,
		Verbs: []string{"create"}, Stored: gvk.Version,
	}
	r.Versions = []*catalog.Version{{Resource: r, Name: gvk.Version, Form: &Form{GVK: gvk, New: empty}, New: empty}}
	return r
}
