// Package garbage deletes objects whose owners are gone, and carries out the propagation policies of deletions, as the garbage collector of
// kube-controller-manager does.
//
// A [Collector] follows the store and keeps a graph of all objects and their owners (graph.go). A change of the graph names objects to
// examine. An examination reads the object and its owners from the store, and decides anew (examine.go). So an examination too many does no
// harm, and the graph may lag behind.
package garbage

import (
	"context"
	stderrors "errors"
	"fmt"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"

	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/loopback"
	"github.com/deed-project/deed/server/store"
)

// Collector is the garbage collector. Its exported fields are set before Run.
type Collector struct {
	Store   store.Store
	Catalog func() *catalog.Catalog
	Client  *loopback.Client
	Now     func() time.Time
	Report  func(what string, err error)
	// Remotes returns the resources that other API servers have, and whose objects can be listed, watched and deleted.
	Remotes func() []Remote

	graph graph
	kinds kinds
	queue workqueue.TypedRateLimitingInterface[*vertex]
}

const (
	// all is the prefix of the keys of objects.
	all = "/registry/"
	// events is the prefix of the keys of Events.
	events = all + "events/"
	// pageSize is the number of records that are read at once when the graph is made.
	pageSize = 500
	// maxExaminations is how many objects are examined at a time, as many as by kube-controller-manager. An examination may wait for a
	// webhook.
	maxExaminations = 20
	// firstRetry and lastRetry bound the time between attempts to examine an object.
	firstRetry, lastRetry = 5 * time.Millisecond, 30 * time.Second
	// followRetry is the time between attempts to follow a store that failed.
	followRetry = 500 * time.Millisecond
)

// Run collects until ctx ends.
//
// Without garbage there is one goroutine that follows the store, one that waits for the queue, and one that looks for other API servers.
func (c *Collector) Run(ctx context.Context) {
	c.graph = graph{vertices: map[string]*vertex{}, keys: map[string]*vertex{}}
	c.queue = workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[*vertex](firstRetry, lastRetry))
	defer context.AfterFunc(ctx, c.queue.ShutDown)()
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { c.work(ctx) })
	running.Go(func() { c.followRemotes(ctx) })
	for ctx.Err() == nil {
		c.Report("the garbage collector does not follow the store", c.follow(ctx))
		select {
		case <-ctx.Done():
		case <-time.After(followRetry):
		}
	}
	c.queue.ShutDown()
}

// follow reads all objects, and then their changes, until ctx ends or the store fails.
func (c *Collector) follow(ctx context.Context) error {
	stored := map[string]bool{}
	from := store.Range{Prefix: all, Limit: pageSize}
	for {
		page, err := c.Store.Range(ctx, from)
		if err != nil {
			return err
		}
		for _, record := range page.Records {
			stored[record.Key] = true
			c.put(ctx, record)
		}
		from.At = page.Revision
		if page.Remaining == 0 {
			break
		}
		from.After = page.Records[len(page.Records)-1].Key
	}
	c.carryOut(ctx, c.graph.keep(func(key string) bool { return stored[key] || isRemote(key) }))
	changes, err := c.Store.Watch(ctx, all, from.At)
	if err != nil {
		return err
	}
	stored = nil
	for batch, err := range changes {
		if err != nil {
			return err
		}
		for _, e := range batch.Events {
			if e.Deleted {
				c.carryOut(ctx, c.graph.delete(e.Key))
			} else {
				c.put(ctx, e.Record)
			}
		}
	}
	return nil
}

// put takes over a stored record, unless it is no object, or an Event: there are many, and they are not collected. Those that own something
// are in the graph nevertheless; see keepEvent.
func (c *Collector) put(ctx context.Context, record store.Record) {
	if strings.HasPrefix(record.Key, events) {
		return
	}
	o, err := parse(record.Text)
	if err == nil && o.uid != "" {
		c.carryOut(ctx, c.graph.put(record.Key, o))
	}
}

// keepEvent has the dependents of an Event examined when the Event goes. r is the reference of one of them.
//
// The Event may go while it enters the graph, which would then keep it. So keepEvent looks again afterwards.
func (c *Collector) keepEvent(ctx context.Context, record store.Record, namespace string, r reference) error {
	o := object{identity: identity{r.apiVersion, r.kind, namespace, r.name}, uid: r.uid}
	c.carryOut(ctx, c.graph.put(record.Key, o))
	_, err := c.Store.Get(ctx, record.Key, 0)
	if stderrors.Is(err, store.ErrNotFound) {
		c.carryOut(ctx, c.graph.delete(record.Key))
		return nil
	}
	return err
}

// carryOut does what a change of the graph asks for.
func (c *Collector) carryOut(ctx context.Context, out outcome) {
	for _, v := range out.examine {
		c.queue.Add(v)
	}
	for _, f := range out.foreign {
		c.Report("an event about an owner in another namespace", c.warn(ctx, f))
	}
}

// warn records the Event OwnerRefInvalidNamespace about an object.
func (c *Collector) warn(ctx context.Context, f foreign) error {
	d := f.dependent
	return c.Client.Warn(ctx, loopback.Warning{
		Component: component, Manager: manager, At: c.Now(), Reason: "OwnerRefInvalidNamespace",
		About:   corev1.ObjectReference{APIVersion: d.apiVersion, Kind: d.kind, Namespace: d.namespace, Name: d.name, UID: types.UID(d.uid)},
		Message: fmt.Sprintf("ownerRef %s does not exist in namespace %q", f.owner.String(d.namespace), d.namespace),
	})
}

// component is the name of the collector in Events.
const component = "garbage-collector-controller"

// work examines objects until the queue is shut down.
func (c *Collector) work(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	free := make(chan struct{}, maxExaminations)
	for {
		v, down := c.queue.Get()
		if down {
			return
		}
		free <- struct{}{}
		running.Go(func() {
			defer func() { <-free }()
			defer c.queue.Done(v)
			c.settle(v, c.examine(ctx, v))
		})
	}
}

// settle has an object examined again if an examination failed. What will not change by itself is not logged each time.
func (c *Collector) settle(v *vertex, err error) {
	if err == nil {
		c.queue.Forget(v)
		return
	}
	if !isExpected(err) {
		c.Report("garbage collection", err)
	}
	c.queue.AddRateLimited(v)
}
