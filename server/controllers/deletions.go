package controllers

import (
	"context"
	stderrors "errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/catalog/crd"
	"github.com/deed-project/deed/server/loopback"
	"github.com/deed-project/deed/server/registry"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// Deletions completes the deletion of definitions and namespaces. A definition that is being deleted waits until the objects of its resource
// are gone, a namespace until everything in it is. The request that deletes the last of them completes the deletion:
//
//	a definition or namespace is deleted   →  sweep: delete the objects below it
//	the last object of a resource is gone  →  sweep again, if its definition or namespace is being deleted
//	sweep finds no object                  →  the finalizer goes, and with it the definition or namespace
//
// Definitions and namespaces that wait are in one work queue. What fails is tried again: a webhook may have refused a deletion.
//
// Its exported fields are set before Start. The queue has each deletion once, however often it is added, and no deletion is worked on twice
// at the same time. A deletion that is added while it is worked on is looked at again afterwards.
type Deletions struct {
	Store       store.Store
	Definitions *Definitions
	Namespaces  *catalog.Resource
	Client      *loopback.Client
	Now         func() time.Time
	Report      func(what string, err error)
	// Remote returns the paths of collections in a namespace that other API servers have, and the group versions whose collections are unknown.
	Remote func(namespace string) (paths map[kschema.GroupResource]string, unknown []string)
	// LeavesNamespaces keeps namespaces that are being deleted as they are, with their objects, for want of a namespace controller.
	LeavesNamespaces bool

	queue workqueue.TypedRateLimitingInterface[deletion]
}

// deletion is a definition or namespace that is being deleted.
type deletion struct {
	kind deletedKind
	name string
}

// deletedKind also names the deletion in the log.
type deletedKind string

const (
	definitionKind deletedKind = "definition"
	namespaceKind  deletedKind = "namespace"
)

const (
	// maxDeletions is how many definitions and namespaces are swept at a time. A sweep may wait for a webhook.
	maxDeletions = 16
	// resumeInterval is how often a server that shares its store looks for deletions that another server left. It is also the longest time
	// between attempts.
	resumeInterval = 30 * time.Second
)

// Start makes the queue, which is shut down when ctx ends. Definitions and namespaces may be added from then on; Run works on them.
func (d *Deletions) Start(ctx context.Context) {
	d.queue = workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[deletion](retryInterval, resumeInterval))
	context.AfterFunc(ctx, d.queue.ShutDown)
}

// Run works on the queue until it is shut down. While the queue is empty it is one goroutine.
func (d *Deletions) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	// A place in free is a sweep that may run.
	free := make(chan struct{}, maxDeletions)
	for {
		of, down := d.queue.Get()
		if down {
			return
		}
		free <- struct{}{}
		running.Go(func() {
			d.work(ctx, of)
			<-free
		})
	}
}

// work completes a deletion, or has it tried again.
//
// What is not finished for want of finalizers is no error and not tried again here: the request that removes the last object calls Removed.
func (d *Deletions) work(ctx context.Context, of deletion) {
	defer d.queue.Done(of)
	complete := d.completeDefinition
	if of.kind == namespaceKind {
		complete = d.completeNamespace
	}
	if err := complete(ctx, of.name); err != nil {
		d.Report(string(of.kind)+" "+of.name+" is not finished", err)
		d.queue.AddRateLimited(of)
		return
	}
	d.queue.Forget(of)
}

// Definition completes the deletion of a definition, in the background.
func (d *Deletions) Definition(name string) { d.queue.Add(deletion{definitionKind, name}) }

// Namespace completes the deletion of a namespace, in the background, unless the server leaves namespaces.
func (d *Deletions) Namespace(name string) {
	if !d.LeavesNamespaces {
		d.queue.Add(deletion{namespaceKind, name})
	}
}

// Resume goes on with the deletions that a server began that has ended, or another server on the same store.
//
// It looks at all definitions and namespaces, and adds those that are being deleted. Adding one again does no harm.
func (d *Deletions) Resume(ctx context.Context) error {
	if err := d.Definitions.Serve(ctx); err != nil {
		return err
	}
	namespaces, err := registry.Objects(ctx, d.Store, d.Namespaces)
	if err != nil {
		return err
	}
	for _, name := range d.Definitions.Terminating() {
		d.Definition(name)
	}
	for _, n := range namespaces {
		if registry.IsTerminating(n) {
			d.Namespace(api.Meta(n, "name"))
		}
	}
	return nil
}

// RunResume calls Resume from time to time until ctx ends.
func (d *Deletions) RunResume(ctx context.Context) {
	ticker := time.NewTicker(resumeInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			d.Report("deletions are not resumed", d.Resume(ctx))
		}
	}
}

// Removed completes the deletion of the definition and the namespace of an object that is gone, if they wait for it and it was the last of
// its resource. namespace is the namespace of the object.
//
// It is called for each object that is removed, so it looks for the cheap signs first: most objects are in no definition or namespace that
// waits.
func (d *Deletions) Removed(ctx context.Context, v *catalog.Version, namespace string) {
	if v.Custom && v.Terminating && d.mayBeEmpty(ctx, v.KeyPrefix("")) {
		d.Definition(v.Plural + "." + v.Group)
	}
	if !v.Namespaced {
		return
	}
	record, err := d.Store.Get(ctx, d.Namespaces.Key("", namespace), 0)
	if err == nil && registry.MayBeTerminating(record.Text) && d.mayBeEmpty(ctx, v.KeyPrefix(namespace)) {
		d.Namespace(namespace)
	}
}

// mayBeEmpty reports whether no key begins with prefix, as far as the store answers.
//
// In doubt it is true, since a sweep that finds something left does no harm.
func (d *Deletions) mayBeEmpty(ctx context.Context, prefix string) bool {
	empty, err := registry.IsEmpty(ctx, d.Store, prefix)
	return empty || err != nil
}

// completeDefinition deletes the objects of a definition's resource, and then the definition.
//
// The objects go by ordinary requests, so admission and finalizers apply. If some are left, it returns without an error and waits.
func (d *Deletions) completeDefinition(ctx context.Context, name string) error {
	definition, err := registry.Object(ctx, d.Store, d.Definitions.Prefix+name)
	if err != nil || definition.IsAbsent() {
		return err
	}
	resource := d.Definitions.Catalog().Lookup(definition.Get("spec", "group").Str(), definition.Get("spec", "names", "plural").Str())
	if resource != nil && resource.Custom && len(resource.Versions) > 0 { // a built-in resource of that name is not what it defines
		left, err := d.sweep(ctx, resource, "")
		if err != nil || len(left) > 0 {
			return err
		}
	}
	finished, held := crd.Finished(definition, d.Now())
	if !held {
		return nil
	}
	// The status takes metadata, too, and does not refuse stored versions that the spec lacks.
	patch := onlyMetadata(finished, "finalizers").With("status", mergePatch(definition.Get("status"), finished.Get("status")))
	return loopback.IgnoreNotFound(d.Client.Send(ctx, http.MethodPatch, DefinitionsPath+name+"/status", patch))
}

// completeNamespace deletes everything in a namespace that is being deleted, and then the namespace.
//
// An error with one resource does not keep the others from being deleted.
func (d *Deletions) completeNamespace(ctx context.Context, name string) error {
	namespace, err := registry.Object(ctx, d.Store, d.Namespaces.Key("", name))
	if err != nil || !registry.IsTerminating(namespace) {
		return err
	}
	var left remainder
	for resource := range d.Definitions.Catalog().All() {
		if !resource.Namespaced || len(resource.Versions) == 0 {
			continue
		}
		records, err := d.sweep(ctx, resource, name)
		left.fail(err)
		left.addRecords(resource.GroupResource(), records)
	}
	again := d.sweepRemote(ctx, name, &left)
	if left.isAny() {
		return stderrors.Join(append(left.errs, again, loopback.IgnoreNotFound(d.reportNamespace(ctx, namespace, &left)))...)
	}
	return loopback.IgnoreNotFound(d.finalizeNamespace(ctx, name))
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
		err = d.Client.Send(ctx, http.MethodPut, "/api/v1/namespaces/"+name+"/finalize", body)
		if !errors.IsConflict(err) || ctx.Err() != nil {
			return err
		}
	}
}

// kubernetesFinalizer holds a namespace until nothing is left in it.
const kubernetesFinalizer = "kubernetes"

// sweep deletes the objects of a resource in a namespace; in all namespaces if it is empty. It returns the objects that are left, mostly
// because they have finalizers. An error of one object does not stop the others; sweep returns the first.
//
// Which objects are left is found by a second look, because a deletion may have marked an object only.
func (d *Deletions) sweep(ctx context.Context, resource *catalog.Resource, namespace string) (left []store.Record, err error) {
	page, err := d.Store.Range(ctx, store.Range{Prefix: resource.KeyPrefix(namespace)})
	if err != nil || len(page.Records) == 0 {
		return nil, err
	}
	for _, record := range page.Records {
		in, name := "", strings.TrimPrefix(record.Key, resource.Prefix)
		if resource.Namespaced {
			in, name, _ = strings.Cut(name, "/")
		}
		path := loopback.CollectionPath(sweptVersion(resource), in) + "/" + name
		if failed := loopback.IgnoreNotFound(d.Client.Send(ctx, http.MethodDelete, path, value.Value{})); failed != nil && err == nil {
			err = fmt.Errorf("DELETE %s: %w", path, failed)
		}
	}
	page, failed := d.Store.Range(ctx, store.Range{Prefix: resource.KeyPrefix(namespace)})
	return page.Records, stderrors.Join(err, failed)
}

// sweepRemote deletes the objects in a namespace that other API servers have. An object that is left is an error, because its end causes no
// event here: the deletion is tried again.
func (d *Deletions) sweepRemote(ctx context.Context, namespace string, left *remainder) error {
	paths, unknown := d.Remote(namespace)
	left.unknown = unknown
	var errs []error
	if len(unknown) > 0 {
		errs = append(errs, fmt.Errorf("the resources of %s are unknown", strings.Join(unknown, ", ")))
	}
	for resource, path := range paths {
		if err := d.Client.Send(ctx, http.MethodDelete, path, value.Value{}); err != nil {
			left.fail(fmt.Errorf("DELETE %s: %w", path, err))
			continue
		}
		list, err := d.Client.Get(ctx, path)
		if err != nil {
			left.fail(fmt.Errorf("GET %s: %w", path, err))
			continue
		}
		if n := list.Get("items").Len(); n > 0 {
			errs = append(errs, fmt.Errorf("GET %s: %d objects are left", path, n))
			left.add(resource, slices.Collect(list.Get("items").Items()))
		}
	}
	return stderrors.Join(errs...)
}

// sweptVersion returns the version in which the objects of a resource are deleted: the one in which they are stored, if it is served, so that
// no object has to be converted.
func sweptVersion(resource *catalog.Resource) *catalog.Version {
	if stored := resource.Version(resource.Stored); resource.Custom && stored != nil {
		return stored
	}
	return resource.Versions[0]
}
