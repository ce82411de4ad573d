package gitops

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gvkschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/kube"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
)

// Cluster compares objects with those of a cluster that it may only read: objects, discovery and OpenAPI documents, and
// CustomResourceDefinitions where it is allowed to. It reads the schema of a kind once, and is safe for concurrent use.
type Cluster struct {
	get func(ctx context.Context, path string) ([]byte, error)

	mu        sync.Mutex
	resources map[gvkschema.GroupVersion]*metav1.APIResourceList
	schemas   map[gvkschema.GroupVersionKind]*kube.Registry // nil for a built-in kind
}

// NewCluster returns a cluster that is read by get, which sends a GET request for an absolute path and returns the body of the answer. Its
// errors satisfy apierrors.IsNotFound where they are. With client-go it is
//
//	func(ctx context.Context, path string) ([]byte, error) {
//		return clientset.RESTClient().Get().RequestURI(path).Do(ctx).Raw()
//	}
func NewCluster(get func(ctx context.Context, path string) ([]byte, error)) *Cluster {
	return &Cluster{
		get: get, resources: map[gvkschema.GroupVersion]*metav1.APIResourceList{}, schemas: map[gvkschema.GroupVersionKind]*kube.Registry{},
	}
}

// Diff is the function [Diff] for the live object in the cluster. A namespaced object without a namespace is in the one called default.
// The schema of a kind that Kubernetes does not have itself is that of its definition, with default values, or else that of the
// cluster's OpenAPI document.
func (c *Cluster) Diff(ctx context.Context, desired any, o Options) (*Result, error) {
	object, err := kube.ObjectOf(desired)
	if err != nil {
		return nil, fmt.Errorf("desired object: %w", err)
	}
	gvk := gvkschema.GroupVersionKind(object.GVK())
	resource, err := c.resource(ctx, gvk)
	if err != nil {
		return nil, err
	}
	registry, err := c.schema(ctx, gvk, resource)
	if err != nil {
		return nil, err
	}
	namespace := object.Content.Get("metadata", "namespace").Str()
	if namespace == "" && resource.Namespaced {
		namespace = metav1.NamespaceDefault
	}
	path := pathOf(gvk.GroupVersion())
	if resource.Namespaced {
		path += "/namespaces/" + url.PathEscape(namespace)
	}
	var live any
	switch text, err := c.get(ctx, path+"/"+resource.Name+"/"+url.PathEscape(object.Content.Get("metadata", "name").Str())); {
	case err == nil:
		live = text
	case !apierrors.IsNotFound(err):
		return nil, fmt.Errorf("live object: %w", err)
	}
	return Diff(live, object, registry, o)
}

// pathOf returns the path of the API of a version.
func pathOf(gv gvkschema.GroupVersion) string {
	if gv.Group == "" {
		return "/api/" + gv.Version
	}
	return "/apis/" + gv.Group + "/" + gv.Version
}

// resource returns the resource of a kind.
func (c *Cluster) resource(ctx context.Context, gvk gvkschema.GroupVersionKind) (metav1.APIResource, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.resources[gvk.GroupVersion()]
	if list == nil {
		text, err := c.get(ctx, pathOf(gvk.GroupVersion()))
		if err != nil {
			return metav1.APIResource{}, fmt.Errorf("discovery of %v: %w", gvk.GroupVersion(), err)
		}
		list = &metav1.APIResourceList{}
		if err := json.Unmarshal(text, list); err != nil {
			return metav1.APIResource{}, fmt.Errorf("discovery of %v: %w", gvk.GroupVersion(), err)
		}
		c.resources[gvk.GroupVersion()] = list
	}
	for _, r := range list.APIResources {
		if r.Kind == gvk.Kind && !strings.Contains(r.Name, "/") {
			return r, nil
		}
	}
	return metav1.APIResource{}, fmt.Errorf("the cluster has no kind %v", gvk)
}

// schema returns a registry that has a kind.
func (c *Cluster) schema(ctx context.Context, gvk gvkschema.GroupVersionKind, resource metav1.APIResource) (*kube.Registry, error) {
	if k, ok := builtin.Lookup(schema.GVK(gvk)); ok && k.Served != builtin.NotServed {
		return nil, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.schemas[gvk]; known != nil {
		return known, nil
	}
	var sources kube.Sources
	definition, err := c.get(ctx, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"+resource.Name+"."+gvk.Group)
	switch {
	case err == nil:
		sources.Definitions = []any{definition}
	case apierrors.IsNotFound(err) || apierrors.IsForbidden(err):
		document, err := c.get(ctx, "/openapi/v3"+pathOf(gvk.GroupVersion()))
		if err != nil {
			return nil, fmt.Errorf("OpenAPI document of %v: %w", gvk.GroupVersion(), err)
		}
		sources.OpenAPIV3 = [][]byte{document}
	default:
		return nil, fmt.Errorf("definition of %v: %w", gvk, err)
	}
	registry, err := kube.NewRegistry(sources)
	if registry == nil || err != nil {
		return nil, errors.Join(fmt.Errorf("schema of %v", gvk), err)
	}
	c.schemas[gvk] = registry
	return registry, nil
}
