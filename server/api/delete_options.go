package api

import (
	"net/url"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/types"
)

// ParseDeleteOptions decodes the query of a delete without a body. An invalid number is a 400. [CheckDeleteOptions] validates the outcome.
func ParseDeleteOptions(query url.Values) (*metav1.DeleteOptions, error) {
	grace, err := number(query, "gracePeriodSeconds")
	if err != nil {
		return nil, err
	}
	o := &metav1.DeleteOptions{
		GracePeriodSeconds: grace, DryRun: query["dryRun"],
		//lint:ignore SA1019 clients still send it
		OrphanDependents: flag(query, "orphanDependents"),
		IgnoreStoreReadErrorWithClusterBreakingPotential: flag(query, "ignoreStoreReadErrorWithClusterBreakingPotential"),
	}
	if policy := text(query, "propagationPolicy"); policy != nil {
		o.PropagationPolicy = (*metav1.DeletionPropagation)(policy)
	}
	if uid, version := query.Get("uid"), query.Get("resourceVersion"); uid != "" || version != "" {
		o.Preconditions = &metav1.Preconditions{}
		if uid != "" {
			o.Preconditions.UID = new(types.UID(uid))
		}
		if version != "" {
			o.Preconditions.ResourceVersion = &version
		}
	}
	return o, nil
}

// CheckDeleteOptions returns a 422 with all errors of o, or nil.
func CheckDeleteOptions(o *metav1.DeleteOptions) error {
	return invalidOptions("DeleteOptions", validation.ValidateDeleteOptions(o))
}
