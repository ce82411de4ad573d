package typecheck

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	registration "k8s.io/api/admissionregistration/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/catalog/openapi"
	"github.com/deed-project/deed/server/controllers"
	"github.com/deed-project/deed/server/loopback"
	"github.com/deed-project/deed/server/registry"
	"github.com/deed-project/deed/server/registry/policies"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// Controller writes the warnings of policies to their status. Its fields are set before Run.
type Controller struct {
	Store   store.Store
	Catalog func() *catalog.Catalog
	Client  *loopback.Client
	Report  func(what string, err error)
}

// manager is the field manager of the status, as in kube-controller-manager.
const manager = "validatingadmissionpolicy-status"

// Run checks each policy once for each generation, until ctx ends.
//
// A policy is not checked again if only the types of what it matches change.
func (c *Controller) Run(ctx context.Context) {
	resource := c.Catalog().Lookup(policies.Group, "validatingadmissionpolicies")
	controllers.Follow(ctx, c.Store, resource.Prefix, func(ctx context.Context) error { return c.sync(ctx, resource) },
		func(err error) { c.Report("types in policies are not checked", err) })
}

// sync checks the policies that were not checked since they changed.
func (c *Controller) sync(ctx context.Context, resource *catalog.Resource) error {
	stored, err := registry.Objects(ctx, c.Store, resource)
	errs := []error{err}
	for _, object := range stored {
		var policy registration.ValidatingAdmissionPolicy
		if err := structs.Into(object, &policy); err != nil {
			errs = append(errs, err)
			continue
		}
		if policy.Generation > policy.Status.ObservedGeneration {
			errs = append(errs, c.check(ctx, resource, &policy))
		}
	}
	return errors.Join(errs...)
}

// check checks a policy and applies its status. A policy that is gone meanwhile needs none.
func (c *Controller) check(ctx context.Context, resource *catalog.Resource, policy *registration.ValidatingAdmissionPolicy) error {
	served := c.Catalog()
	checker := Checker{
		Kinds:  func(r kschema.GroupVersionResource) []kschema.GroupVersionKind { return kindsOf(served, r) },
		Schema: func(k kschema.GroupVersionKind) (*spec.Schema, error) { return schemaOf(served, k) },
	}
	warnings, err := checker.Check(policy)
	if err != nil {
		return fmt.Errorf("policy %s: %w", policy.Name, err)
	}
	status := registration.ValidatingAdmissionPolicyStatus{
		ObservedGeneration: policy.Generation, TypeChecking: &registration.TypeChecking{ExpressionWarnings: warnings},
	}
	of, err := structs.From(status)
	if err != nil {
		return err
	}
	v := resource.Versions[0]
	config := value.Object(
		value.Member{Name: "apiVersion", Value: value.String(v.APIVersion())},
		value.Member{Name: "kind", Value: value.String(v.Kind)},
		value.Member{Name: "metadata", Value: value.Object(value.Member{Name: "name", Value: value.String(policy.Name)})},
		value.Member{Name: "status", Value: of},
	)
	path := loopback.CollectionPath(v, "") + "/" + policy.Name + "/status"
	return loopback.IgnoreNotFound(c.Client.Apply(ctx, path, manager, config))
}

// kindsOf returns the kinds of a resource, by its plural or singular name in any case. The RESTMapper of kube-controller-manager takes the core
// group, whose name is empty, for all groups.
func kindsOf(c *catalog.Catalog, resource kschema.GroupVersionResource) (out []kschema.GroupVersionKind) {
	name := strings.ToLower(resource.Resource)
	for r := range c.All() {
		isNamed := name == r.Plural || name == r.Singular
		if isNamed && (resource.Group == "" || resource.Group == r.Group) && r.Version(resource.Version) != nil {
			out = append(out, kschema.GroupVersionKind{Group: r.Group, Version: resource.Version, Kind: r.Kind})
		}
	}
	return out
}

// schemaOf returns the schema of a kind, nil if it is not served.
func schemaOf(c *catalog.Catalog, kind kschema.GroupVersionKind) (*spec.Schema, error) {
	found := openapi.Schema(c, schema.GVK{Group: kind.Group, Version: kind.Version, Kind: kind.Kind})
	if found.IsAbsent() {
		return nil, nil
	}
	out := &spec.Schema{}
	return out, json.Unmarshal(found.AppendJSON(nil), out)
}
