// Package checks makes [validation.Checks] in the process, with the libraries of kube-apiserver. Their initialization takes time, so that only
// deed-validate imports this package.
package checks

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/cmd/internal/validation"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/catalog/builtin"
	"github.com/deed-project/deed/server/catalog/crd"
	"github.com/deed-project/deed/server/registry/webhooks"
	"github.com/deed-project/deed/server/structural/rules"
	"github.com/deed-project/deed/value"
)

// Local makes the checks in this process.
type Local struct{}

var _ validation.Checks = Local{}

// Rules implements [validation.Checks]. A schema that is not structural has no rules: it is refused elsewhere.
func (Local) Rules(openAPIV3Schema value.Value) validation.Rules {
	compiled := sync.OnceValues(func() (*rules.Rules, error) { return rules.Compile(openAPIV3Schema) })
	return func(errs field.ErrorList, object, live value.Value) (validation.Checked, error) {
		r, err := compiled()
		if err != nil {
			return validation.Checked{}, nil
		}
		var warnings api.Warnings
		all := r.CEL(context.Background(), errs[:len(errs):len(errs)], object, live, &warnings)
		return validation.Checked{Errors: all[len(errs):], Warnings: warnings.Texts()}, nil
	}
}

// versions returns the versions of the built-in kinds, and of definitions, as the server has them. Their validation reads no clock.
var versions = sync.OnceValues(func() (map[schema.GVK]*catalog.Version, error) {
	resources, err := builtin.Kinds(builtin.Cluster{Now: time.Now, RuntimeConfig: builtin.RuntimeConfig{"api/all": true}})
	if err != nil {
		return nil, err
	}
	webhooks.Install(resources)
	out := map[schema.GVK]*catalog.Version{}
	for _, r := range append(resources, crd.Definitions(time.Now)) {
		for _, v := range r.Versions {
			out[v.GVK()] = v
		}
	}
	return out, nil
})

// Whole implements [validation.Checks]. A kind that no server has is an error.
func (Local) Whole(gvk schema.GVK, subresource string, object, live value.Value) (validation.Checked, error) {
	all, err := versions()
	if err != nil {
		return validation.Checked{}, err
	}
	v := all[gvk]
	if v == nil {
		return validation.Checked{}, fmt.Errorf("no server has the kind %v", gvk)
	}
	var errs field.ErrorList
	var warnings api.Warnings
	if webhooks.IsConfiguration(v.Resource.Group, v.Resource.Plural) {
		warnings.Add(webhooks.Advice(object)...)
	}
	ctx := context.Background()
	if !live.IsAbsent() {
		errs = api.ValidateReplaced(object, live, v.Resource.Namespaced)
		errs = append(errs, v.Form.ValidateUpdate(ctx, object, live, subresource, &warnings)...)
	} else if errs = v.Form.ValidateCreate(ctx, object, &warnings); len(errs) == 0 {
		errs = api.ValidateNew(object, v.Resource.Namespaced)
	}
	return validation.Checked{Errors: errs, Warnings: warnings.Texts()}, nil
}
