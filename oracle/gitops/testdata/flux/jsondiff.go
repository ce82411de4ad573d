package jsondiff

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/deed-project/deed/kube"
	"github.com/deed-project/deed/kube/gitops"
)

// This file stands in for the dry run of an apply, and for the removal of ignored fields.

// predict makes object what a server-side apply of it would store, without the server.
func predict(_ context.Context, existing, object *unstructured.Unstructured, manager string) error {
	var live any
	if existing.GetResourceVersion() != "" {
		live = existing
	}
	r, err := gitops.Diff(live, object, nil, gitops.Options{Manager: manager})
	if err != nil {
		return err
	}
	if r.Refused != nil {
		return r.Refused
	}
	return kube.Into(r.Object, object)
}

// withoutIgnored removes the fields that JSON pointers name.
func withoutIgnored(object *unstructured.Unstructured, paths []string) error {
	rules, err := gitops.NewRules(nil, []gitops.IgnoreRule{{Paths: paths}})
	if err != nil {
		return err
	}
	left, err := rules.Without(object)
	if err != nil {
		return err
	}
	return kube.Into(left, object)
}
