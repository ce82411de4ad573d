package gitops

import (
	"context"
	"errors"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	gvkschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/kube"
	"github.com/deed-project/deed/kube/cluster"
)

// Cluster compares objects with those of a cluster. It needs read access to objects, discovery and OpenAPI documents. It reads
// CustomResourceDefinitions if it is allowed to. It reads the schema of a kind once, and is safe for concurrent use.
type Cluster struct {
	cluster *cluster.Cluster

	mu      sync.Mutex
	schemas map[gvkschema.GroupVersionKind]*kube.Registry
}

// NewCluster returns a cluster that sends its requests by get. get sends a GET request for an absolute path and returns the body of the
// response. Its error for a missing object satisfies apierrors.IsNotFound. With client-go, get is
//
//	func(ctx context.Context, path string) ([]byte, error) {
//		result := clientset.RESTClient().Get().RequestURI(path).Do(ctx)
//		if err := result.Error(); err != nil {
//			return nil, err // in the words of the server, which Raw does not read
//		}
//		return result.Raw()
//	}
func NewCluster(get func(ctx context.Context, path string) ([]byte, error)) *Cluster {
	read := func(ctx context.Context, path, _ string) ([]byte, error) { return get(ctx, path) }
	return &Cluster{cluster: cluster.New(read, nil), schemas: map[gvkschema.GroupVersionKind]*kube.Registry{}}
}

// Diff is the function [Diff] for the live object in the cluster. The default namespace is "default". An object without a name, which a
// server generates, has no live object. A kind that Kubernetes itself does not have gets the schema of its definition, with default
// values. Without a readable definition, it gets that of the cluster's OpenAPI document.
func (c *Cluster) Diff(ctx context.Context, desired any, o Options) (*Result, error) {
	object, err := kube.ObjectOf(desired)
	if err != nil {
		return nil, fmt.Errorf("desired object: %w", err)
	}
	resource, err := c.cluster.Resource(ctx, gvkschema.GroupVersionKind(object.GVK()))
	if err != nil {
		return nil, err
	}
	registry, err := c.registry(ctx, resource)
	if err != nil {
		return nil, err
	}
	metadata := object.Content.Get("metadata")
	if metadata.Get("name").IsAbsent() {
		return Diff(nil, object, registry, o)
	}
	var live any
	switch text, err := c.cluster.Object(ctx, resource, metadata.Get("namespace").Str(), metadata.Get("name").Str()); {
	case err == nil:
		live = text
	case !apierrors.IsNotFound(err):
		return nil, fmt.Errorf("live object: %w", err)
	}
	return Diff(live, object, registry, o)
}

// registry returns a registry that has the kind of a resource. It returns nil for a built-in kind of Kubernetes.
func (c *Cluster) registry(ctx context.Context, r cluster.Resource) (*kube.Registry, error) {
	if cluster.IsBuiltIn(r.GVK) {
		return nil, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.schemas[r.GVK]; known != nil {
		return known, nil
	}
	found, err := c.cluster.Schema(ctx, r)
	if err != nil {
		return nil, err
	}
	var sources kube.Sources
	if found.Definition != nil {
		sources.Definitions = []any{found.Definition}
	} else {
		sources.OpenAPIV3 = [][]byte{found.Document}
	}
	registry, err := kube.NewRegistry(sources)
	if registry == nil || err != nil {
		return nil, errors.Join(fmt.Errorf("schema of %v", r.GVK), err)
	}
	c.schemas[r.GVK] = registry
	return registry, nil
}
