// Package cluster reads objects from a cluster, and the definitions of their kinds. It sends GET requests only, so that the right to get
// objects is enough.
//
// Built-in kinds of Kubernetes need no request. For other kinds, a [Cluster] reads the discovery document of their group and version, and
// a [Schema]. The schema is the CustomResourceDefinition, or the OpenAPI document if the user may not read definitions.
package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gvkschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/value"
)

// Get sends a GET request for an absolute path and returns the body of the response. accept is the preferred media type, or empty for
// JSON. If a server refuses a request as not found or forbidden, the error satisfies apierrors.IsNotFound or apierrors.IsForbidden.
type Get func(ctx context.Context, path, accept string) ([]byte, error)

// Cluster reads a cluster. It fetches discovery and schemas once, and is safe for concurrent use.
type Cluster struct {
	get   Get
	cache *Cache

	mu        sync.Mutex
	resources map[gvkschema.GroupVersion]*metav1.APIResourceList
	schemas   map[gvkschema.GroupVersionKind]Schema
	found     map[gvkschema.GroupVersionKind]Resource // found by Named
	hashes    map[string]string                       // the paths of OpenAPI documents with their hashes; nil until they are fetched
}

// New returns a cluster that sends its requests by get. cache keeps OpenAPI documents, and may be nil.
func New(get Get, cache *Cache) *Cluster {
	return &Cluster{
		get: get, cache: cache,
		resources: map[gvkschema.GroupVersion]*metav1.APIResourceList{}, schemas: map[gvkschema.GroupVersionKind]Schema{},
		found: map[gvkschema.GroupVersionKind]Resource{},
	}
}

// Resource describes how a cluster serves a kind.
type Resource struct {
	GVK        gvkschema.GroupVersionKind
	Name       string // the plural name, such as deployments
	Namespaced bool
}

// String returns the resource as kubectl writes it, such as deployments.apps.
func (r Resource) String() string {
	return gvkschema.GroupResource{Group: r.GVK.Group, Resource: r.Name}.String()
}

// UnservedError reports a kind that the cluster does not serve.
type UnservedError struct{ GVK gvkschema.GroupVersionKind }

// Error names the kind.
func (e *UnservedError) Error() string {
	return fmt.Sprintf("the cluster has no kind %s in %s", e.GVK.Kind, e.GVK.GroupVersion())
}

// IsBuiltIn reports whether Kubernetes itself serves a kind, so that its schema is known.
func IsBuiltIn(gvk gvkschema.GroupVersionKind) bool {
	k, ok := builtin.Lookup(schema.GVK(gvk))
	return ok && k.Served != builtin.NotServed
}

// Resource returns the resource of a kind. It sends no request for a built-in kind of Kubernetes, and one request for each group and
// version of other kinds. The error is an [*UnservedError] if the cluster does not serve the kind.
func (c *Cluster) Resource(ctx context.Context, gvk gvkschema.GroupVersionKind) (Resource, error) {
	if k, ok := builtin.Lookup(schema.GVK(gvk)); ok && k.Served != builtin.NotServed && k.Resource != "" {
		return Resource{gvk, k.Resource, k.Namespaced}, nil
	}
	return c.discovered(ctx, gvk)
}

// discovered returns the resource of a kind as discovery lists it.
func (c *Cluster) discovered(ctx context.Context, gvk gvkschema.GroupVersionKind) (Resource, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := c.found[gvk]; ok {
		return known, nil
	}
	list := c.resources[gvk.GroupVersion()]
	if list == nil {
		text, err := c.get(ctx, pathOf(gvk.GroupVersion()), "")
		if apierrors.IsNotFound(err) {
			return Resource{}, &UnservedError{gvk}
		}
		if err != nil {
			return Resource{}, fmt.Errorf("discovery of %v: %w", gvk.GroupVersion(), err)
		}
		list = &metav1.APIResourceList{}
		if err := json.Unmarshal(text, list); err != nil {
			return Resource{}, fmt.Errorf("discovery of %v: %w", gvk.GroupVersion(), err)
		}
		c.resources[gvk.GroupVersion()] = list
	}
	for _, r := range list.APIResources {
		if r.Kind == gvk.Kind && !strings.Contains(r.Name, "/") {
			return Resource{gvk, r.Name, r.Namespaced}, nil
		}
	}
	return Resource{}, &UnservedError{gvk}
}

// pathOf returns the path of the API of a version.
func pathOf(gv gvkschema.GroupVersion) string {
	if gv.Group == "" {
		return "/api/" + gv.Version
	}
	return "/apis/" + gv.Group + "/" + gv.Version
}

// path returns the path of the objects of r.
func (r Resource) path(namespace string) string {
	path := pathOf(r.GVK.GroupVersion())
	if r.Namespaced && namespace != "" {
		path += "/namespaces/" + url.PathEscape(namespace)
	}
	return path + "/" + r.Name
}

// Object returns an object as JSON, in the version of r. The error satisfies apierrors.IsNotFound if the object does not exist. It is an
// [*UnservedError] if the cluster does not serve r. An empty name, and one that is no part of a path, are errors without a request.
func (c *Cluster) Object(ctx context.Context, r Resource, namespace, name string) ([]byte, error) {
	if name == "" {
		return nil, fmt.Errorf("%v: an object without a name", r) // its path is that of all objects
	}
	if problems := content.IsPathSegmentName(name); len(problems) > 0 {
		return nil, fmt.Errorf("%v: the name %q %s", r, name, strings.Join(problems, ", "))
	}
	if r.Namespaced {
		if problems := content.IsPathSegmentName(namespace); len(problems) > 0 {
			return nil, fmt.Errorf("%v: the namespace %q %s", r, namespace, strings.Join(problems, ", "))
		}
		namespace = cmp.Or(namespace, metav1.NamespaceDefault)
	}
	text, err := c.get(ctx, r.path(namespace)+"/"+url.PathEscape(name), "")
	if !isNameless(err) {
		return text, err
	}
	// A client that does not read the Status in a response has no name for any object. Discovery tells the two cases apart.
	if _, unserved := c.discovered(ctx, r.GVK); unserved != nil {
		return nil, &UnservedError{r.GVK}
	}
	return nil, err
}

// isNameless reports whether err is the refusal of a path that has not been found, without the name of an object. A server answers with the
// same code if an object is missing and if it does not serve the kind. Only in the first case, the response names the object.
func isNameless(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) {
		return false
	}
	details := status.Status().Details
	return details == nil || details.Name == ""
}

// page is the largest number of objects in one response to a list request.
const page = 500

// List returns the objects of r whose labels match selector, in a namespace or, if it is empty, in all namespaces. It needs the right to
// list them.
func (c *Cluster) List(ctx context.Context, r Resource, namespace, selector string) ([]value.Value, error) {
	var out []value.Value
	query := url.Values{"limit": {fmt.Sprint(page)}}
	if selector != "" {
		query.Set("labelSelector", selector)
	}
	for {
		text, err := c.get(ctx, r.path(namespace)+"?"+query.Encode(), "")
		if isNameless(err) {
			return nil, &UnservedError{r.GVK}
		}
		if err != nil {
			return nil, err
		}
		list, err := value.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("list of %v: the answer is no JSON", r)
		}
		for item := range list.Get("items").Items() {
			item = item.With("apiVersion", value.String(r.GVK.GroupVersion().String())).With("kind", value.String(r.GVK.Kind))
			out = append(out, item)
		}
		token := list.Get("metadata", "continue").Str()
		if token == "" {
			return out, nil
		}
		query.Set("continue", token)
	}
}
