package controllers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/catalog/crd"
	"github.com/deed-project/deed/server/conversion"
	"github.com/deed-project/deed/server/logs"
	"github.com/deed-project/deed/server/loopback"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// Serving custom resources. The stored definitions are the truth, and everything here follows from them:
//
//	Serve    reads what changed, decides about names (names.go), compiles definitions that changed, and swaps the catalog
//	Sync     Serve, and then writes the statuses that differ from the stored ones
//
// Sync is called after each write of a definition, before the client gets its answer, and when another server has written one. A write of a
// status is a write of a definition as well. It finds nothing to change, so the recursion ends.
//
// Lock order: writing, then serving. Requests read the catalog without a lock.

// DefinitionsPath is the path of the CustomResourceDefinitions, with a slash at its end.
const DefinitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"

// Definitions serves the resources that the stored CustomResourceDefinitions define, beside those that are always served, and writes the
// status of definitions. Its fields do not change once it is in use; then it is safe for concurrent use.
type Definitions struct {
	Store       store.Store
	Always      []*catalog.Resource // resources that are served whatever is stored
	Prefix      string              // of the keys of definitions
	Client      *loopback.Client
	Conversions *conversion.Client
	Forget      func(*catalog.Resource) // is called when a resource is replaced or no more served
	// Changed is called with the group versions that definitions begin or cease to serve; nil is not called.
	Changed func([]kschema.GroupVersion)
	// Transient tells that the server ends after few requests: CEL rules are compiled when a write needs them, and statuses are not written.
	Transient bool
	Now       func() time.Time
	Log       logs.Logger

	catalog   atomic.Pointer[catalog.Catalog]
	serving   sync.Mutex  // is held while the catalog is made
	accepted  definitions // guarded by serving
	writing   sync.Mutex  // is held while statuses are written
	unsettled atomic.Bool // the status of a definition may have changed
}

// Catalog returns the resources that are served, nil before the first Sync.
func (c *Definitions) Catalog() *catalog.Catalog { return c.catalog.Load() }

// Sync serves what the stored definitions define, and then writes their statuses. Serving does not wait for the statuses: webhooks are asked
// about those, and a webhook may write a definition itself.
//
// When it returns without an error, the definition that was written is served, unless its names are not accepted or it does not compile.
func (c *Definitions) Sync(ctx context.Context) error {
	if err := c.Serve(ctx); err != nil || c.Transient {
		return err
	}
	return c.writeStatuses(ctx)
}

// Serve serves what the stored definitions define, if their names are accepted.
//
// The cost grows with what changed since the last call, and with the number of all resources if the served ones change.
//
// A definition that cannot be compiled is logged, and its resource is not served. It does not keep others from being served. The error is
// about definitions that cannot be read.
func (c *Definitions) Serve(ctx context.Context) error {
	c.serving.Lock()
	defer c.serving.Unlock()
	changed, err := c.accepted.catchUp(ctx, c.Store, c.Prefix, c.Now)
	// The first call makes a catalog even without definitions.
	changedCatalog := c.catalog.Load() == nil
	for _, d := range changed {
		was := d.resource
		if err := c.define(d); err != nil {
			c.Log.Error("a definition cannot be served", logs.Name("name", api.Meta(d.now, "name")), logs.Fault(err))
		}
		changedCatalog = changedCatalog || d.resource != was
	}
	if gvs := c.accepted.count(changed); len(gvs) > 0 && c.Changed != nil {
		c.Changed(gvs)
	}
	if changedCatalog { // otherwise the catalog stays, with what was made of it, such as OpenAPI documents
		c.catalog.Store(catalog.New(slices.Concat(c.Always, c.accepted.resources())...))
	}
	return err
}

// define makes the resource of a definition that changed. It ends the watches of the resource that the definition had, unless the only change
// is how far its deletion is. The resource stays if the change does not concern it.
//
//	had   served   alike   outcome
//	 -      -        -     nothing
//	 -      x        -     a new resource
//	 x      x        x     the same resource; another one with the same watches if deletion went on
//	 x      x        -     another resource, and the watches of the former end
//	 x      -        -     no resource, and the watches end
func (c *Definitions) define(d *definition) error {
	broken := !d.gone && crd.Broken(d.now)
	had, served := d.resource, broken || !d.gone && crd.Served(d.now)
	same := had != nil && served && had.Broken == broken && alike(d.source, d.now)
	if same && crd.EndingOf(d.source) == crd.EndingOf(d.now) {
		return nil
	}
	if had != nil {
		c.Forget(had)
	}
	if had != nil && !same {
		d.unwatch()
		d.resource = nil
	}
	if !served {
		return nil
	}
	resource, err := c.compile(d.now, broken)
	if err != nil {
		return err
	}
	if len(resource.Versions) > 0 {
		// A built-in resource has precedence, and takes everything.
		if c.yield(resource); len(resource.Versions) == 0 {
			return nil
		}
	}
	if same {
		resource.Gone = had.Gone // watches see how the objects go
	} else {
		resource.Gone, d.unwatch = context.WithCancel(context.Background())
	}
	d.source, d.resource = d.now, resource
	return nil
}

// compile makes the resource of a definition. A broken one has no conversion webhook.
func (c *Definitions) compile(definition value.Value, broken bool) (*catalog.Resource, error) {
	var by crd.Converter
	if !broken {
		hook, err := c.Conversions.Of(definition)
		if err != nil {
			return nil, err
		}
		if hook != nil {
			by = hook
		}
	}
	resource, err := crd.Compile(definition, c.Now, by)
	if err != nil {
		return nil, err
	}
	if resource.Broken = broken; !c.Transient {
		crd.Prepare(resource)
	}
	return resource, nil
}

// yield takes from a defined resource the versions that built-in resources are served in: all of them if a built-in resource has its name.
func (c *Definitions) yield(resource *catalog.Resource) {
	resource.Versions = slices.DeleteFunc(resource.Versions, func(v *catalog.Version) bool {
		return slices.ContainsFunc(c.Always, func(always *catalog.Resource) bool {
			return always.Group == v.Group && (always.Plural == v.Plural || always.Version(v.Name) != nil)
		})
	})
}

// alike reports whether two definitions make the same resource.
//
// The UID tells a definition from its successor with the same name.
func alike(a, b value.Value) bool {
	return a.Get("spec").Equal(b.Get("spec")) && a.Get("status", "acceptedNames").Equal(b.Get("status", "acceptedNames")) &&
		a.Get("metadata", "uid").Equal(b.Get("metadata", "uid"))
}

// writeStatuses writes the statuses that are not stored as they should be. If another call is doing that, it starts over, and this one
// returns at once.
//
// unsettled is set before the lock is tried. So either this call gets the lock, or the one that has it sees unsettled and goes on. It is
// checked once more after the lock is released.
func (c *Definitions) writeStatuses(ctx context.Context) error {
	var errs []error
	c.unsettled.Store(true)
	for c.unsettled.Load() && c.writing.TryLock() {
		for c.unsettled.Swap(false) {
			errs = append(errs, c.writeEach(ctx))
		}
		c.writing.Unlock()
	}
	return errors.Join(errs...)
}

// writeEach writes the statuses once. It does not overwrite a definition that changed meanwhile: the status might accept a name that the
// definition gave up, and that another definition got. The request that changed it calls Sync again.
func (c *Definitions) writeEach(ctx context.Context) error {
	if err := c.Serve(ctx); err != nil {
		return err
	}
	c.serving.Lock()
	unwritten := c.accepted.unwritten()
	c.serving.Unlock()
	for _, d := range unwritten {
		name := api.Meta(d.now, "name")
		// The resource version makes the patch fail if the definition changed.
		patch := api.WithMetadata(mergePatch(d.stored, d.now), "resourceVersion", value.String(fmt.Sprint(d.revision)))
		err := c.Client.Send(ctx, http.MethodPatch, DefinitionsPath+name+"/status", patch)
		if err := loopback.IgnoreNotFound(err); err != nil && !apierrors.IsConflict(err) {
			c.Log.Error("the status of a definition cannot be written", logs.Name("name", name), logs.Fault(err))
		}
	}
	return nil
}

// Defines reports whether a definition has a served version, whether or not its names are accepted.
func (c *Definitions) Defines(gv kschema.GroupVersion) bool {
	c.serving.Lock()
	defer c.serving.Unlock()
	return c.accepted.versions[gv] > 0
}

// Terminating returns the names of the definitions that are being deleted.
func (c *Definitions) Terminating() []string {
	c.serving.Lock()
	defer c.serving.Unlock()
	return slices.Collect(c.accepted.terminating())
}
