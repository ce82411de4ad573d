package ssa

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/deed-project/deed/kube"
	"github.com/deed-project/deed/kube/gitops"
)

// This file stands in for the dry run of an apply.

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
