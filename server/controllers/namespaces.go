package controllers

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/loopback"
	"github.com/deed-project/deed/server/registry"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

const (
	// kubernetesFinalizer holds a namespace until nothing is left in it.
	kubernetesFinalizer = "kubernetes"
	// finalizersTake is how long objects with finalizers are expected to take until they go.
	finalizersTake = 15 * time.Second
	// asNamespaceController makes the field manager of a write that of the namespace controller of Kubernetes.
	asNamespaceController = "?fieldManager=kube-controller-manager"
)

// completeNamespace deletes everything in a namespace that is being deleted, and then the namespace. It does so in the order of
// kube-controller-manager:
//
//  1. A namespace without finalizers in its spec is complete.
//  2. Pods are deleted. As long as some are left, nothing else is, and the status does not count them.
//  3. Everything else is deleted. An error with one resource does not keep the others from being deleted.
//  4. The status says what is left, also if nothing is.
//  5. If nothing is left and nothing failed, the finalizer of Kubernetes goes.
//
// again is the time after which to look at objects that are left, 0 if none is.
func (d *Deletions) completeNamespace(ctx context.Context, name string) (again time.Duration, err error) {
	namespace, err := registry.Object(ctx, d.Store, d.Namespaces.Key("", name))
	if err != nil || !registry.IsTerminating(namespace) || namespace.Get("spec", "finalizers").Len() == 0 {
		return 0, err
	}
	var left remainder
	paths, unknown := d.Remote(name)
	left.unknown = unknown
	pods := d.Definitions.Catalog().Lookup("", "pods")
	if pods != nil {
		d.emptyCollection(ctx, pods, namespace, &left)
	}
	if len(left.objects) > 0 {
		uncounted := remainder{unknown: left.unknown, errs: left.errs}
		if err := d.reportNamespace(ctx, namespace, &uncounted); err != nil {
			left.errs = append(left.errs, err)
		}
		return left.again(), left.unfinished()
	}
	for resource := range d.Definitions.Catalog().All() {
		if resource.Namespaced && len(resource.Versions) > 0 && resource != pods {
			d.emptyCollection(ctx, resource, namespace, &left)
		}
	}
	for resource, path := range paths {
		d.emptyRemote(ctx, resource, path, name, &left)
	}
	reported := d.reportNamespace(ctx, namespace, &left)
	if reported == nil && len(left.objects) == 0 && left.unfinished() == nil {
		reported = d.finalizeNamespace(ctx, name)
	}
	left.fail(loopback.IgnoreNotFound(reported))
	return left.again(), left.unfinished()
}

// emptyCollection deletes the objects of a resource in a namespace. It notes in left what failed, and which objects are left.
//
// The deletion is that of a collection, in the background, as if a client asked for it: admission and finalizers apply. If it fails, objects
// that are left do not count.
func (d *Deletions) emptyCollection(ctx context.Context, resource *catalog.Resource, namespace value.Value, left *remainder) {
	name, version := api.Meta(namespace, "name"), sweptVersion(resource)
	objects, err := d.objectsIn(ctx, resource, name)
	if err != nil || len(objects) == 0 {
		left.fail(err)
		return
	}
	var grace time.Duration
	if resource.Group == "" && resource.Plural == "pods" {
		grace = d.gracePeriod(namespace, objects)
	}
	if err := d.deleteCollection(ctx, loopback.CollectionPath(version, name)); err != nil {
		left.fail(err)
		return
	}
	objects, err = d.objectsIn(ctx, resource, name)
	left.fail(err)
	left.add(name, resource.GroupResource().WithVersion(version.Name), objects, grace)
}

// emptyRemote is emptyCollection for a resource of another API server, whose collection in the namespace is at path.
func (d *Deletions) emptyRemote(ctx context.Context, resource kschema.GroupVersionResource, path, namespace string, left *remainder) {
	if err := d.deleteCollection(ctx, path); err != nil {
		left.fail(err)
		return
	}
	list, err := d.Client.Get(ctx, path)
	if err != nil {
		left.fail(err)
		return
	}
	left.add(namespace, resource, slices.Collect(list.Get("items").Items()), 0)
}

// deleteCollection deletes a collection, and leaves dependents of its objects to the garbage collector.
func (d *Deletions) deleteCollection(ctx context.Context, path string) error {
	text := func(name, s string) value.Member { return value.Member{Name: name, Value: value.String(s)} }
	options := value.Object(text("apiVersion", "v1"), text("kind", "DeleteOptions"), text("propagationPolicy", "Background"))
	return loopback.IgnoreNotFound(d.Client.Send(ctx, http.MethodDelete, path, options))
}

// objectsIn returns the objects of a resource in a namespace as they are stored: those that no version can read have to go, too.
func (d *Deletions) objectsIn(ctx context.Context, resource *catalog.Resource, namespace string) ([]value.Value, error) {
	page, err := d.Store.Range(ctx, store.Range{Prefix: resource.KeyPrefix(namespace)})
	if err != nil {
		return nil, err
	}
	objects := make([]value.Value, 0, len(page.Records))
	for _, record := range page.Records {
		stored, err := managedfields.ParseObject(record.Text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", record.Key, err)
		}
		objects = append(objects, stored.Content)
	}
	return objects, nil
}

// gracePeriod returns the longest time that one of the pods has to end, 0 if as much has passed since the deletion of the namespace.
func (d *Deletions) gracePeriod(namespace value.Value, pods []value.Value) time.Duration {
	var longest time.Duration
	for _, pod := range pods {
		if phase := pod.Get("status", "phase").Str(); phase == "Succeeded" || phase == "Failed" {
			continue
		}
		seconds := pod.Get("spec", "terminationGracePeriodSeconds").Int()
		longest = max(longest, time.Duration(seconds)*time.Second)
	}
	began, err := time.Parse(time.RFC3339, api.Meta(namespace, "deletionTimestamp"))
	if err != nil || d.Now().Sub(began) >= longest {
		return 0
	}
	return longest
}

// finalizeNamespace removes the finalizer of Kubernetes from a namespace. It tries again as long as other clients change the namespace
// meanwhile. Other finalizers stay, and hold the namespace.
//
// The request is a PUT of the whole namespace, as Kubernetes' namespace controller sends it, with the resource version of what was read.
func (d *Deletions) finalizeNamespace(ctx context.Context, name string) error {
	for {
		record, err := d.Store.Get(ctx, d.Namespaces.Key("", name), 0)
		if err != nil {
			return err
		}
		stored, err := managedfields.ParseObject(record.Text)
		if err != nil {
			return err
		}
		spec := stored.Content.Get("spec")
		left := slices.Collect(spec.Get("finalizers").Items())
		left = slices.DeleteFunc(left, value.String(kubernetesFinalizer).Equal)
		body := stored.Content.With("spec", spec.With("finalizers", value.List(left...)))
		body = api.WithMetadata(body, "resourceVersion", value.String(fmt.Sprint(record.Revision)))
		err = d.Client.Send(ctx, http.MethodPut, "/api/v1/namespaces/"+name+"/finalize"+asNamespaceController, body)
		if !errors.IsConflict(err) || ctx.Err() != nil {
			return err
		}
	}
}
