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
	return func(errs field.ErrorList, object, live value.Value) (field.ErrorList, error) {
		r, err := compiled()
		if err != nil {
			return nil, nil
		}
		all := r.CEL(context.Background(), errs[:len(errs):len(errs)], object, live, nil)
		return all[len(errs):], nil
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

// Refused implements [validation.Checks]. A kind that no server has is an error.
func (Local) Refused(gvk schema.GVK, subresource string, object, live value.Value) (field.ErrorList, error) {
	all, err := versions()
	if err != nil {
		return nil, err
	}
	v := all[gvk]
	if v == nil {
		return nil, fmt.Errorf("no server has the kind %v", gvk)
	}
	ctx := context.Background()
	if !live.IsAbsent() {
		errs := api.ValidateReplaced(object, live, v.Resource.Namespaced)
		return append(errs, v.Form.ValidateUpdate(ctx, object, live, subresource, nil)...), nil
	}
	errs := v.Form.ValidateCreate(ctx, object, nil)
	if len(errs) == 0 {
		errs = api.ValidateNew(object, v.Resource.Namespaced)
	}
	return errs, nil
}
