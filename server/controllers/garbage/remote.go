package garbage

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/server/loopback"
	"github.com/deed-project/deed/value"
)

// Objects of other API servers are in the graph, too. Their keys are their paths in the API. A watch of each resource follows them, as there is
// no store to follow.

// Remote is a resource that another API server has.
type Remote struct {
	GVK        schema.GVK
	Collection string // the path of its objects in all namespaces
	Namespaced bool
}

const (
	// remoteInterval is the time between looks at which remote resources there are.
	remoteInterval = time.Second
	// remoteRetry is the time between watches of a remote resource.
	remoteRetry = 2 * time.Second
)

// isRemote reports whether a key is that of an object of another API server.
func isRemote(key string) bool { return !strings.HasPrefix(key, all) }

// path returns the path of an object.
func (r Remote) path(namespace, name string) string {
	if !r.Namespaced {
		return r.Collection + "/" + name
	}
	at := strings.LastIndex(r.Collection, "/")
	return r.Collection[:at] + "/namespaces/" + namespace + r.Collection[at:] + "/" + name
}

// followRemotes follows the resources of other API servers until ctx ends. Objects of a resource that is no longer served stay in the graph: a
// server that cannot be reached has not lost them.
func (c *Collector) followRemotes(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	followed := map[Remote]context.CancelFunc{}
	changed := time.NewTicker(remoteInterval)
	defer changed.Stop()
	for {
		isServed := map[Remote]bool{}
		for _, r := range c.Remotes() {
			isServed[r] = true
			if followed[r] != nil {
				continue
			}
			of, cancel := context.WithCancel(ctx)
			followed[r] = cancel
			running.Go(func() { c.followRemote(of, r) })
		}
		for r, cancel := range followed {
			if !isServed[r] {
				cancel()
				delete(followed, r)
			}
		}
		select {
		case <-ctx.Done():
			return // which ends the contexts of all
		case <-changed.C:
		}
	}
}

// followRemote follows a resource until ctx ends. A failure is no failure of this server, so it is not reported.
func (c *Collector) followRemote(ctx context.Context, r Remote) {
	for ctx.Err() == nil {
		_ = c.watchRemote(ctx, r)
		select {
		case <-ctx.Done():
		case <-time.After(remoteRetry):
		}
	}
}

// watchRemote reads all objects of a resource, and then their changes, until the watch ends.
func (c *Collector) watchRemote(ctx context.Context, r Remote) error {
	list, err := c.Client.Get(ctx, r.Collection)
	if err != nil {
		return err
	}
	stored := map[string]bool{}
	for o := range list.Get("items").Items() {
		stored[c.putRemote(ctx, r, o)] = true
	}
	c.carryOut(ctx, c.graph.keep(func(key string) bool { return stored[key] || !r.has(key) }))
	for event, err := range c.Client.Watch(ctx, r.Collection+"?watch=1&resourceVersion="+list.Get("metadata", "resourceVersion").Str()) {
		switch o := event.Get("object"); {
		case err != nil:
			return err
		case event.Get("type").Str() == "DELETED":
			c.carryOut(ctx, c.graph.delete(r.path(o.Get("metadata", "namespace").Str(), o.Get("metadata", "name").Str())))
		case event.Get("type").Str() != "BOOKMARK":
			c.putRemote(ctx, r, o)
		}
	}
	return nil
}

// has reports whether a key is that of an object of the resource.
func (r Remote) has(key string) bool {
	at := strings.LastIndex(r.Collection, "/")
	rest, isOfVersion := strings.CutPrefix(key, r.Collection[:at])
	if !isOfVersion || !r.Namespaced {
		return isOfVersion && strings.HasPrefix(rest, r.Collection[at:]+"/")
	}
	parts := strings.Split(rest, "/") // /namespaces/NAMESPACE/RESOURCE/NAME
	return len(parts) == 5 && parts[1] == "namespaces" && "/"+parts[3] == r.Collection[at:]
}

// putRemote takes over an object of another API server, and returns its key.
func (c *Collector) putRemote(ctx context.Context, r Remote, content value.Value) string {
	o := objectOf(content)
	o.apiVersion, o.kind = r.GVK.APIVersion(), r.GVK.Kind // which lists leave out
	key := r.path(o.namespace, o.name)
	if o.uid != "" {
		c.carryOut(ctx, c.graph.put(key, o))
	}
	return key
}

// remoteOf returns the remote resource of a kind.
func (c *Collector) remoteOf(apiVersion, kind string) (Remote, bool) {
	for _, r := range c.Remotes() {
		gvk := schema.ParseGVK(apiVersion, kind)
		if gvk.Kind == strings.ToLower(r.GVK.Kind) {
			gvk.Kind = r.GVK.Kind
		}
		if r.GVK == gvk {
			return r, true
		}
	}
	return Remote{}, false
}

// remoteObject reads an object of another API server. It is absent if it does not exist. A server that cannot be reached is like a kind that is
// not served.
func (c *Collector) remoteObject(ctx context.Context, path string) (value.Value, error) {
	content, err := c.Client.Get(ctx, path)
	if loopback.IgnoreNotFound(err) != nil {
		return value.Value{}, fmt.Errorf("%w: %w", errNotServed, err)
	}
	if err != nil {
		return value.Value{}, nil
	}
	if content.Get("metadata", "uid").Str() == "" {
		return value.Value{}, errors.New(path + " is no object")
	}
	return content, nil
}
