package controllers

import (
	"context"
	stderrors "errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/catalog/crd"
	"github.com/deed-project/deed/server/loopback"
	"github.com/deed-project/deed/server/registry"
	"github.com/deed-project/deed/server/store"
)

// Deletions completes the deletion of definitions and namespaces. A definition that is being deleted waits until the objects of its resource
// are gone, a namespace until everything in it is. The request that deletes the last of them completes the deletion:
//
//	a definition or namespace is deleted   →  sweep: delete the objects below it
//	the last object of a resource is gone  →  sweep again, if its definition or namespace is being deleted
//	sweep finds no object                  →  the finalizer goes, and with it the definition or namespace
//
// Definitions and namespaces that wait are in one work queue. What fails is tried again: a webhook may have refused a deletion in a namespace.
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
	Remote func(namespace string) (paths map[kschema.GroupVersionResource]string, unknown []string)
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
	// ResumeInterval is how often a server that shares its store looks for deletions that another server left. It is also the longest time
	// between attempts.
	ResumeInterval = 30 * time.Second
	// shownTerminating is how long a definition that stays is shown as Terminating at least.
	shownTerminating = 50 * time.Millisecond
)

// Start makes the queue, which is shut down when ctx ends. Definitions and namespaces may be added from then on; Run works on them.
func (d *Deletions) Start(ctx context.Context) {
	d.queue = workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[deletion](retryInterval, ResumeInterval))
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
// Objects with finalizers are no error: the request that removes the last object calls Removed. A namespace is also looked at again after a
// while, for its status.
func (d *Deletions) work(ctx context.Context, of deletion) {
	defer d.queue.Done(of)
	var again time.Duration
	var err error
	if of.kind == namespaceKind {
		again, err = d.completeNamespace(ctx, of.name)
	} else {
		err = d.completeDefinition(ctx, of.name)
	}
	if err != nil {
		d.Report(string(of.kind)+" "+of.name+" is not finished", err)
		d.queue.AddRateLimited(of)
		return
	}
	d.queue.Forget(of)
	if again > 0 {
		d.queue.AddAfter(of, again)
	}
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

// Removed is called for each object that is removed. If it was the last of its resource, the definition and the namespace that wait for it go,
// too. namespace is the namespace of the object.
//
// It looks for the cheap signs first, because most objects are in no definition or namespace that waits.
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
// The objects go by requests, so finalizers apply. Admission is not asked, as kube-apiserver deletes in the store. If some objects are left,
// it returns without an error and waits.
//
// A definition that other finalizers hold loses the condition Terminating when its objects are gone, and stays. Clients that look at it after
// they have deleted it wait for that condition, so completeDefinition lets a moment pass, as kube-apiserver does.
func (d *Deletions) completeDefinition(ctx context.Context, name string) error {
	definition, err := registry.Object(ctx, d.Store, d.Definitions.Prefix+name)
	if err == nil && definition.Get("metadata", "finalizers").Len() > 1 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(shownTerminating):
		}
		definition, err = registry.Object(ctx, d.Store, d.Definitions.Prefix+name)
	}
	if err != nil || !registry.IsTerminating(definition) {
		return err
	}
	resource := d.Definitions.Catalog().Route(definition.Get("spec", "group").Str(), definition.Get("spec", "names", "plural").Str())
	// A built-in resource of that name is not what it defines, and a broken one has no objects.
	if resource != nil && resource.Custom && !resource.Broken && (len(resource.Versions) > 0 || resource.Swept != nil) {
		left, err := d.sweep(ctx, resource)
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

// sweep deletes the objects of a resource. It returns the objects that are left, mostly because they have finalizers. An error of one object
// does not stop the others; sweep returns the first.
//
// Which objects are left is found by a second look, because a deletion may have marked an object only.
func (d *Deletions) sweep(ctx context.Context, resource *catalog.Resource) (left []store.Record, err error) {
	page, err := d.Store.Range(ctx, store.Range{Prefix: resource.Prefix})
	if err != nil || len(page.Records) == 0 {
		return nil, err
	}
	for _, record := range page.Records {
		in, name := "", strings.TrimPrefix(record.Key, resource.Prefix)
		if resource.Namespaced {
			in, name, _ = strings.Cut(name, "/")
		}
		path := loopback.CollectionPath(sweptVersion(resource), in) + "/" + name
		if failed := loopback.IgnoreNotFound(d.Client.Remove(ctx, path)); failed != nil && err == nil {
			err = fmt.Errorf("DELETE %s: %w", path, failed)
		}
	}
	page, failed := d.Store.Range(ctx, store.Range{Prefix: resource.Prefix})
	return page.Records, stderrors.Join(err, failed)
}

// sweptVersion returns the version in which the objects of a resource are deleted: the one in which they are stored, if it is served, so that
// no object has to be converted.
func sweptVersion(resource *catalog.Resource) *catalog.Version {
	if stored := resource.Version(resource.Stored); resource.Custom && stored != nil {
		return stored
	}
	if resource.Swept != nil {
		return resource.Swept
	}
	return resource.Versions[0]
}
