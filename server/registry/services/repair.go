package services

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/controllers/queue"
	"github.com/deed-project/deed/server/loopback"
	"github.com/deed-project/deed/server/registry"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// Services and IPAddresses name each other. Clients may change both sides, so [Allocator.KeepAddresses] looks at both:
//
//	service a, 10.0.0.5   <--->  10.0.0.5 of a     nothing
//	service b, 10.0.0.6   <---   none              the IPAddress is created
//	service c, 10.0.0.7   <---   10.0.0.7 of x     the IPAddress is created anew, unless x has the address, too
//	none                  --->  10.0.0.8 of d      the IPAddress is deleted if it is of this allocator
//
// Each repair is reported in an Event. Repairs are those of the controller ipallocator-repair-controller of kube-apiserver.

const (
	// repairInterval is the time after which all services and IPAddresses are looked at again.
	repairInterval = 3 * time.Minute
	// creationTakes is how long an IPAddress may wait for its service, which is created after it.
	creationTakes = time.Minute
	// revertTakes is how long an IPAddress may be left by a write that is refused.
	revertTakes = 5 * time.Second
	// repairController is the controller in Events.
	repairController = "ipallocator-repair-controller"
)

// The labels of the IPAddresses of this allocator.
const (
	familyLabel  = "ipaddress.kubernetes.io/ip-family"
	managerLabel = "ipaddress.kubernetes.io/managed-by"
	managerName  = "ipallocator.k8s.io"
)

// repaired names a service or, without a namespace, an IPAddress.
type repaired struct{ namespace, name string }

// KeepAddresses brings IPAddresses in line with services until ctx ends.
func (a *Allocator) KeepAddresses(ctx context.Context) {
	services, addresses := a.Catalog().Lookup("", resource.Resource).Prefix, a.Catalog().Lookup("networking.k8s.io", "ipaddresses").Prefix
	var known keys
	source := func(prefix string, item func(string) repaired) queue.Source[repaired] {
		return queue.Source[repaired]{Prefix: prefix, Items: func(e store.Event) []repaired {
			of := item(strings.TrimPrefix(e.Key, prefix))
			if known.set(of, !e.Deleted); e.Deleted {
				return nil
			}
			return []repaired{of}
		}}
	}
	c := &queue.Controller[repaired]{Name: repairController, Store: a.Store, Report: a.Report, Interval: repairInterval, All: known.all}
	c.Sources = []queue.Source[repaired]{
		source(services, func(key string) repaired {
			namespace, name, _ := strings.Cut(key, "/")
			return repaired{namespace, name}
		}),
		source(addresses, func(key string) repaired { return repaired{name: key} }),
	}
	c.Work = func(ctx context.Context, of repaired) error {
		if of.namespace == "" {
			return a.repairAddress(ctx, of.name)
		}
		service, err := a.serviceOf(ctx, of.namespace, of.name)
		if err != nil || service.IsAbsent() {
			return err
		}
		return a.repairService(ctx, service)
	}
	c.Run(ctx)
}

// keys is the set of what is stored. The zero value is empty and ready, and safe for concurrent use.
type keys struct {
	mu sync.Mutex
	of map[repaired]struct{}
}

// set adds an item, or removes it.
func (k *keys) set(item repaired, stored bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of == nil {
		k.of = map[repaired]struct{}{}
	}
	if delete(k.of, item); stored {
		k.of[item] = struct{}{}
	}
}

// all returns the items, in no order.
func (k *keys) all() []repaired {
	k.mu.Lock()
	defer k.mu.Unlock()
	out := make([]repaired, 0, len(k.of))
	for item := range k.of {
		out = append(out, item)
	}
	return out
}

// serviceOf returns a stored service, absent if there is none.
func (a *Allocator) serviceOf(ctx context.Context, namespace, name string) (value.Value, error) {
	return registry.Object(ctx, a.Store, a.Catalog().Lookup("", resource.Resource).Key(namespace, name))
}

// repairService gives a stored service the IPAddresses that it lacks.
func (a *Allocator) repairService(ctx context.Context, service value.Value) error {
	namespace, name := api.Meta(service, "namespace"), api.Meta(service, "name")
	for _, ip := range addressesOf(service.Get("spec")) {
		family := familyOf(ip)
		warn := func(reason, format string, of ...any) error {
			return a.warnOf(ctx, service, "Service", reason, "ClusterIPAllocation", fmt.Sprintf(format, of...))
		}
		inside, err := a.isInside(ctx, ip)
		if err == nil && !inside {
			err = warn("ClusterIPOutOfRange", "Cluster IP [%v]: %s is not within any configured Service CIDR; please recreate service", family, ip)
		}
		if err != nil {
			return err
		} else if !inside {
			continue
		}
		address, err := registry.Object(ctx, a.Store, a.addressKey(ip))
		if err != nil {
			return err
		}
		// A service gives back its addresses after it has left the store. So it is read again, after the address.
		current, err := a.serviceOf(ctx, namespace, name)
		if err != nil {
			return err
		}
		if !slices.Contains(addressesOf(current.Get("spec")), ip) {
			continue
		}
		parent := address.Get("spec", "parentRef")
		switch of := parent.Get("namespace").Str(); {
		case address.IsAbsent():
			// Another server or the write of the service may be faster.
			if err = a.record(ctx, service, ip); err == nil {
				err = warn("ClusterIPNotAllocated", "Cluster IP [%v]: %s is not allocated; repairing", family, ip)
			} else if errors.Is(err, errTaken) {
				err = nil
			}
		case !isOfService(parent):
			err = errors.Join(a.recreate(ctx, service, ip), warn("ClusterIPNotAllocated",
				"the ClusterIP [%v]: %s for Service %s/%s has a wrong reference; repairing", family, ip, namespace, name))
		case of != namespace || parent.Get("name").Str() != name:
			other, missing := a.serviceOf(ctx, of, parent.Get("name").Str())
			switch {
			case missing != nil:
				err = missing
			case other.IsAbsent():
				err = errors.Join(a.recreate(ctx, service, ip), warn("ClusterIPNotAllocated",
					"the ClusterIP [%v]: %s for Service %s/%s has a wrong reference; repairing", family, ip, namespace, name))
			case slices.Contains(addressesOf(other.Get("spec")), ip):
				err = warn("ClusterIPAlreadyAllocated", "Cluster IP [%v]:%s was assigned to multiple services; please recreate service", family, ip)
			}
		}
		if err == nil && !address.IsAbsent() && isOfService(parent) && !isLabelled(address, family) {
			err = a.recreate(ctx, service, ip)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isOfService reports whether a reference names a service.
func isOfService(parent value.Value) bool {
	return parent.Get("group").Str() == "" && parent.Get("resource").Str() == resource.Resource
}

// isLabelled reports whether an IPAddress has the labels that the allocator gives it.
func isLabelled(address value.Value, family string) bool {
	labels := address.Get("metadata", "labels")
	return labels.Get(familyLabel).Str() == family && labels.Get(managerLabel).Str() == managerName
}

// isInside reports whether a ServiceCIDR has an address, ready or not.
func (a *Allocator) isInside(ctx context.Context, ip netip.Addr) (bool, error) {
	all, err := registry.Objects(ctx, a.Store, a.Catalog().Lookup("networking.k8s.io", "servicecidrs"))
	for _, of := range all {
		for text := range of.Get("spec", "cidrs").Items() {
			if prefix, err := netip.ParsePrefix(text.Str()); err == nil && newAddressRange(prefix).has(ip) {
				return true, nil
			}
		}
	}
	return false, err
}

// recreate replaces the IPAddress of a service.
func (a *Allocator) recreate(ctx context.Context, service value.Value, ip netip.Addr) error {
	if err := a.releaseName(ctx, ip.String()); err != nil {
		return err
	}
	return a.record(ctx, service, ip)
}

// repairAddress deletes an IPAddress of this allocator that no service has. An address without its service, or younger than its service, may
// be of a write that is not finished. Then the error has it looked at again.
func (a *Allocator) repairAddress(ctx context.Context, name string) error {
	address, err := registry.Object(ctx, a.Store, a.Catalog().Lookup("networking.k8s.io", "ipaddresses").Key("", name))
	if err != nil || address.Get("metadata", "labels").Get(managerLabel).Str() != managerName {
		return err
	}
	parent := address.Get("spec", "parentRef")
	remove := func(reason, format string, of ...any) error {
		err := a.warnOf(ctx, address, "IPAddress", reason, "IPAddressAllocation", fmt.Sprintf(format, of...))
		return errors.Join(err, a.releaseName(ctx, name))
	}
	group, of, namespace, service := parent.Get("group").Str(), parent.Get("resource").Str(), parent.Get("namespace").Str(), parent.Get("name").Str()
	if !isOfService(parent) {
		return remove("IPAddressNotAllocated", "IPAddress %s appears to have been modified, not referencing a Service "+
			"&ParentReference{Group:%s,Resource:%s,Namespace:%s,Name:%s,}: cleaning up", name, group, of, namespace, service)
	}
	owner, err := a.serviceOf(ctx, namespace, service)
	if err != nil {
		return err
	}
	age := a.Now().Sub(createdAt(address))
	if owner.IsAbsent() {
		if age <= creationTakes {
			return queue.Later(creationTakes - age + time.Millisecond)
		}
		return remove("IPAddressNotAllocated", "IPAddress: %s for Service %s/%s appears to have leaked: cleaning up", name, namespace, service)
	}
	for ip := range owner.Get("spec", "clusterIPs").Items() {
		if ip.Str() == name {
			return nil
		}
	}
	if owner.Get("spec", "type").Str() == "ExternalName" && age < creationTakes {
		return queue.Later(creationTakes - age)
	}
	if !createdAt(address).Before(createdAt(owner)) && age < revertTakes {
		return queue.Later(revertTakes)
	}
	return remove("IPAddressWrongReference", "IPAddress: %s for Service %s/%s has a wrong reference; cleaning up", name, namespace, service)
}

// createdAt returns when an object was created.
func createdAt(object value.Value) time.Time {
	at, _ := time.Parse(time.RFC3339, api.Meta(object, "creationTimestamp")) // the server has written it
	return at
}

// warnOf records an Event about a stored service or IPAddress, unless an equal one was recorded for this revision of the object.
func (a *Allocator) warnOf(ctx context.Context, object value.Value, kind, reason, action, note string) error {
	at, version := "/api/v1/namespaces/"+api.Meta(object, "namespace")+"/services/", "v1"
	if kind == "IPAddress" {
		at, version = addressPath+"/", "networking.k8s.io/v1"
	}
	return a.warn(ctx, at+api.Meta(object, "name"), loopback.Warning{
		Component: repairController, About: referenceTo(object, version, kind), Action: action, Reason: reason, Message: note,
	})
}

// warn records w about the object at path, unless it was recorded for this revision of the object. It completes w: with the time, and with
// the revision.
func (a *Allocator) warn(ctx context.Context, path string, w loopback.Warning) error {
	current, err := a.Client.Get(ctx, path)
	if err != nil {
		return loopback.IgnoreNotFound(err)
	}
	w.About.ResourceVersion = api.Meta(current, "resourceVersion")
	event := string(w.About.UID) + " " + w.About.ResourceVersion + " " + w.Message
	if a.recorded.has(event) {
		return nil
	}
	w.At = a.Now()
	if err := a.Client.Warn(ctx, w); err != nil {
		return err
	}
	a.recorded.add(event)
	return nil
}

// referenceTo returns a reference to an object, without its resource version.
func referenceTo(object value.Value, apiVersion, kind string) corev1.ObjectReference {
	return corev1.ObjectReference{
		APIVersion: apiVersion, Kind: kind, Namespace: api.Meta(object, "namespace"), Name: api.Meta(object, "name"),
		UID: types.UID(api.Meta(object, "uid")),
	}
}

// events is the set of the events that were recorded. The zero value is empty and ready, and safe for concurrent use.
type events struct {
	mu  sync.Mutex
	had map[string]struct{}
}

// maxEvents bounds the events that are kept in mind. Beyond it, an event may be recorded twice.
const maxEvents = 1000

// has reports whether an event was recorded.
func (e *events) has(event string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, had := e.had[event]
	return had
}

// add adds an event.
func (e *events) add(event string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.had == nil || len(e.had) >= maxEvents {
		e.had = map[string]struct{}{}
	}
	e.had[event] = struct{}{}
}
