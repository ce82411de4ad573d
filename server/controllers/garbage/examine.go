package garbage

import (
	"context"
	stderrors "errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/errors"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/loopback"
	"github.com/deed-project/deed/value"
)

// What becomes of an object, the first line that holds:
//
//	it is deleted, with the finalizer orphan     its dependents lose the reference, then it loses the finalizer
//	it is deleted in the foreground              its dependents are examined; it loses the finalizer once none blocks it
//	it is deleted                                nothing: it is on its way
//	it has no owners                             nothing
//	an owner exists, and is not deleted in the   it stays, and loses the references to owners that do not exist, or that are deleted
//	  foreground                                   in the foreground
//	an owner is deleted in the foreground, and   it is deleted in the foreground. If one of these dependents is, too, it stops blocking its
//	  it has dependents                            owners first, since they may be a circle
//	otherwise                                    it is deleted: as its finalizers say, or else in the background

// manager is the field manager of the collector, as that of kube-controller-manager.
const manager = "kube-controller-manager"

var (
	// errNotServed says that a reference names a kind that is not served. The kind may be defined later.
	errNotServed = stderrors.New("the kind of an owner is not served")
	// errChanged says that another write was faster.
	errChanged = stderrors.New("the object has changed")
	// errNamespaced says that an object without a namespace has an owner in one. No later attempt will find out where.
	errNamespaced = stderrors.New("an object without a namespace has an owner in a namespace")
)

// isExpected reports whether err says nothing about the server.
func isExpected(err error) bool {
	return stderrors.Is(err, errNotServed) || stderrors.Is(err, errChanged) || errors.IsConflict(err)
}

// item is a stored object that is examined.
type item struct {
	object
	*vertex
	content value.Value
	version string // the resource version
	path    string // of the object in the API
	key     string
}

// examine decides what becomes of an object, and does it. An error has it examined again.
func (c *Collector) examine(ctx context.Context, v *vertex) error {
	i, err := c.item(ctx, v, c.graph.where(v))
	switch {
	case err != nil || i == nil:
		return err
	case i.object.deleting && i.object.orphans:
		return c.orphan(ctx, i)
	case i.object.waits():
		return c.wait(ctx, i)
	case i.object.deleting || len(i.object.owners) == 0:
		return nil
	}
	err = c.judge(ctx, i)
	if stderrors.Is(err, errNamespaced) {
		return nil
	}
	return err
}

// item reads the object of a vertex. It is nil if the object is not stored.
func (c *Collector) item(ctx context.Context, v *vertex, key string) (*item, error) {
	if key == "" {
		return nil, nil
	}
	if isRemote(key) {
		content, err := c.remoteObject(ctx, key)
		if o := objectOf(content); err == nil && o.uid == v.uid {
			return &item{o, v, content, content.Get("metadata", "resourceVersion").Str(), key, key}, nil
		}
		return nil, err
	}
	record, err := c.Store.Get(ctx, key, 0)
	if err != nil {
		return nil, loopback.IgnoreNotFound(err)
	}
	stored, err := managedfields.ParseObject(record.Text)
	if err != nil {
		return nil, err
	}
	o := objectOf(stored.Content)
	if o.uid != v.uid {
		return nil, nil
	}
	resource := c.kinds.resource(c.Catalog(), o.apiVersion, o.kind)
	if resource == nil {
		return nil, errNotServed // its definition goes, and takes the object with it
	}
	in := resource.Versions[0]
	if as := resource.Version(resource.Stored); resource.Custom && as != nil {
		in = as // so that the object need not be converted
	}
	path, version := loopback.CollectionPath(in, o.namespace)+"/"+o.name, strconv.FormatInt(int64(record.Revision), 10)
	return &item{o, v, stored.Content, version, path, key}, nil
}

// judge decides about an object that has owners and is not deleted.
func (c *Collector) judge(ctx context.Context, i *item) error {
	var solid, dangling, waiting []string // UIDs
	for _, r := range i.object.owners {
		owner, err := c.owner(ctx, i, r)
		switch {
		case err != nil:
			return err
		case owner == nil:
			dangling = append(dangling, r.uid)
		case owner.waits():
			waiting = append(waiting, r.uid)
		default:
			solid = append(solid, r.uid)
		}
	}
	switch {
	case len(solid) > 0 && len(dangling)+len(waiting) == 0:
		return nil
	case len(solid) > 0:
		return c.disown(ctx, i, append(dangling, waiting...)...)
	case len(waiting) > 0:
		dependents := c.graph.dependentsOf(i.vertex)
		isCircle := slices.ContainsFunc(dependents, func(d dependent) bool { return d.waits })
		blocks := slices.ContainsFunc(i.object.owners, func(r reference) bool { return r.blocks })
		switch {
		case isCircle && blocks:
			return stderrors.Join(c.unblock(ctx, i), errChanged)
		case len(dependents) > 0:
			return c.delete(ctx, i, "Foreground")
		}
	}
	switch {
	case i.object.orphans:
		return c.delete(ctx, i, "Orphan")
	case i.object.foreground:
		return c.delete(ctx, i, "Foreground")
	}
	return c.delete(ctx, i, "Background")
}

// owner returns the owner that a reference of an object names, nil if it does not exist: nothing has the name, or something with another
// UID.
//
// An owner whose kind is no longer served is gone if the graph has seen that. In doubt the object stays.
func (c *Collector) owner(ctx context.Context, i *item, r reference) (*object, error) {
	if remote, is := c.remoteOf(r.apiVersion, r.kind); is {
		return c.remoteOwner(ctx, i, r, remote)
	}
	served, err := c.kinds.named(c.Catalog(), r.apiVersion, r.kind)
	switch {
	case err != nil && c.kinds.resource(c.Catalog(), r.apiVersion, r.kind) == nil && c.graph.isGone(r, i.object.namespace):
		return nil, nil
	case err != nil:
		return nil, err
	case served.namespaced && i.object.namespace == "":
		return nil, errNamespaced
	case served.stored == nil:
		return nil, nil
	}
	record, err := c.Store.Get(ctx, served.stored.Key(i.object.namespace, r.name), 0)
	if err != nil {
		return nil, loopback.IgnoreNotFound(err)
	}
	owner, err := parse(record.Text)
	if err != nil || owner.uid != r.uid {
		return nil, err
	}
	if strings.HasPrefix(record.Key, events) {
		err = c.keepEvent(ctx, record, i.object.namespace, r)
	}
	return &owner, err
}

// remoteOwner is owner for an object of another API server.
func (c *Collector) remoteOwner(ctx context.Context, i *item, r reference, remote Remote) (*object, error) {
	if remote.Namespaced && i.object.namespace == "" {
		return nil, errNamespaced
	}
	content, err := c.remoteObject(ctx, remote.path(i.object.namespace, r.name))
	if err != nil || content.IsAbsent() {
		return nil, err
	}
	owner := objectOf(content)
	if owner.uid != r.uid {
		return nil, nil
	}
	return &owner, nil
}

// orphan takes the references to an object from its dependents, and then its finalizer.
func (c *Collector) orphan(ctx context.Context, i *item) error {
	for _, d := range c.graph.dependentsOf(i.vertex) {
		dependent, err := c.item(ctx, d.vertex, d.key)
		if err == nil && dependent != nil {
			err = c.disown(ctx, dependent, i.object.uid)
		}
		if err != nil {
			return err
		}
	}
	return c.release(ctx, i, orphanFinalizer)
}

// wait has the dependents of an object examined, and removes its finalizer if none of them blocks it.
//
// Dependents that do not block are examined before the finalizer goes. So they find an owner that waits for them, and none that is gone. In
// kube-controller-manager, which examines all at once, it is mostly so.
func (c *Collector) wait(ctx context.Context, i *item) error {
	dependents := c.graph.dependentsOf(i.vertex)
	blocked := slices.ContainsFunc(dependents, func(d dependent) bool { return d.blocks })
	for _, d := range dependents {
		switch {
		case d.deleting:
		case blocked:
			c.queue.Add(d.vertex)
		default:
			c.settle(d.vertex, c.examine(ctx, d.vertex))
		}
	}
	if blocked {
		return nil
	}
	return c.release(ctx, i, foregroundFinalizer)
}

// release removes a finalizer.
func (c *Collector) release(ctx context.Context, i *item, finalizer string) error {
	return c.change(ctx, i, "finalizers", func(f value.Value) (value.Value, bool) { return f, f.Str() != finalizer })
}

// disown removes the references to owners.
func (c *Collector) disown(ctx context.Context, i *item, owners ...string) error {
	return c.change(ctx, i, "ownerReferences", func(r value.Value) (value.Value, bool) {
		return r, !slices.Contains(owners, r.Get("uid").Str())
	})
}

// unblock makes the references of an object let its owners go.
func (c *Collector) unblock(ctx context.Context, i *item) error {
	return c.change(ctx, i, "ownerReferences", func(r value.Value) (value.Value, bool) {
		if r.Get("blockOwnerDeletion").Bool() {
			r = r.With("blockOwnerDeletion", value.Bool(false))
		}
		return r, true
	})
}

// change replaces the items of a list in the metadata of an object. If another write was faster, the object is examined again.
func (c *Collector) change(ctx context.Context, i *item, list string, to func(value.Value) (item value.Value, stays bool)) error {
	var items []value.Value
	for item := range i.content.Get("metadata", list).Items() {
		if item, stays := to(item); stays {
			items = append(items, item)
		}
	}
	patch := value.Object(value.Member{Name: "metadata", Value: value.Object(
		value.Member{Name: list, Value: value.List(items...)},
		value.Member{Name: "resourceVersion", Value: value.String(i.version)},
	)})
	return loopback.IgnoreNotFound(c.Client.Send(ctx, http.MethodPatch, i.path+"?fieldManager="+manager, patch))
}

// delete deletes an object with a propagation policy, unless its owners have changed since it was read.
//
// Writes that leave the owners as they are must not delay the deletion for ever. So a conflict has the object read once more.
func (c *Collector) delete(ctx context.Context, i *item, policy string) error {
	err := c.deleteAt(ctx, i, policy, i.version)
	if !errors.IsConflict(err) {
		return loopback.IgnoreNotFound(err)
	}
	now, err := c.item(ctx, i.vertex, i.key)
	if err != nil || now == nil {
		return err
	}
	if !slices.Equal(now.object.owners, i.object.owners) {
		return errChanged
	}
	return loopback.IgnoreNotFound(c.deleteAt(ctx, i, policy, ""))
}

// deleteAt sends a delete of an object with its UID, and with a resource version unless that is empty.
func (c *Collector) deleteAt(ctx context.Context, i *item, policy, at string) error {
	text := func(name, s string) value.Member { return value.Member{Name: name, Value: value.String(s)} }
	preconditions := []value.Member{text("uid", i.object.uid)}
	if at != "" {
		preconditions = append(preconditions, text("resourceVersion", at))
	}
	return c.Client.Send(ctx, http.MethodDelete, i.path, value.Object(
		text("apiVersion", "v1"), text("kind", "DeleteOptions"), text("propagationPolicy", policy),
		value.Member{Name: "preconditions", Value: value.Object(preconditions...)},
	))
}

// kinds finds resources by their kinds. It keeps an index of one catalog.
type kinds struct {
	mu       sync.Mutex
	catalog  *catalog.Catalog
	byKind   map[schema.GVK]*catalog.Resource // without versions
	byLower  map[schema.GVK]*catalog.Resource // the same, by kinds in lower case
	versions map[schema.GVK]bool              // without kinds
}

// index indexes a catalog. The caller holds mu.
func (k *kinds) index(of *catalog.Catalog) {
	if k.catalog == of {
		return
	}
	k.catalog, k.byKind, k.byLower, k.versions = of, map[schema.GVK]*catalog.Resource{}, map[schema.GVK]*catalog.Resource{}, map[schema.GVK]bool{}
	for r := range of.All() {
		if len(r.Versions) == 0 {
			continue
		}
		k.byKind[schema.GVK{Group: r.Group, Kind: r.Kind}] = r
		k.byLower[schema.GVK{Group: r.Group, Kind: strings.ToLower(r.Kind)}] = r
		for _, v := range r.Versions {
			k.versions[schema.GVK{Group: r.Group, Version: v.Name}] = true
		}
	}
}

// resource returns the resource of a kind in any version, nil if it is not served or not stored.
func (k *kinds) resource(of *catalog.Catalog, apiVersion, kind string) *catalog.Resource {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.index(of)
	if r := k.byKind[schema.GVK{Group: schema.ParseGVK(apiVersion, kind).Group, Kind: kind}]; r != nil && !r.Virtual {
		return r
	}
	return nil
}

// served says how the kind of an owner reference is served.
type served struct {
	stored     *catalog.Version // nil if no object of the kind can exist
	namespaced bool
}

// named returns what a reference means by a kind, as client-go's REST mapper understands it. The error is errNotServed.
//
//	ConfigMap, configmap   the resource
//	TokenReview            a virtual resource: no object of it is found
//	ConfigMapList, List    no object is found either
func (k *kinds) named(of *catalog.Catalog, apiVersion, kind string) (served, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.index(of)
	gvk := schema.ParseGVK(apiVersion, kind)
	find := func(kind string) (*catalog.Resource, *catalog.Version) {
		r := k.byKind[schema.GVK{Group: gvk.Group, Kind: kind}]
		if r == nil {
			r = k.byLower[schema.GVK{Group: gvk.Group, Kind: kind}]
		}
		if r == nil {
			return nil, nil
		}
		return r, r.Version(gvk.Version)
	}
	if r, v := find(kind); v != nil {
		if r.Virtual {
			v = nil
		}
		return served{v, r.Namespaced}, nil
	}
	item, isList := strings.CutSuffix(kind, "List")
	if item == "" && isList && k.versions[schema.GVK{Group: gvk.Group, Version: gvk.Version}] {
		return served{}, nil
	}
	if r, v := find(item); isList && v != nil && r.Kind == item {
		return served{namespaced: r.Namespaced}, nil
	}
	return served{}, fmt.Errorf("%w: %s %s", errNotServed, apiVersion, kind)
}
